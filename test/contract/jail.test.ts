// Tests the jail that Reeve ships: whatever RBAC grants to Reeve's accounts, they do only their work.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { largeManifest } from '../e2e/guarded-objects.ts';
import type { Attempt } from '../support/jail/attempt.ts';
import { attempts } from '../support/jail/attempts.ts';
import { duties } from '../support/jail/duties.ts';
import { authorityAttempts } from '../support/jail/own-attempts.ts';
import {
  accounts,
  apply,
  clearScene,
  hooksOf,
  secretOf,
  setAuthority,
  setScene,
} from '../support/jail/scene.ts';
import { until } from '../support/until.ts';
import type { Api } from './support/api.ts';
import { onEachBackend } from './support/backends.ts';
import { at } from './support/objects.ts';
import { installPolicies } from './support/shipped-policies.ts';

const team = 'jail-contract';
const says = /ValidatingAdmissionPolicy '(reeve-jail(-owner)?)' with binding '\1' denied request: /;

onEachBackend('the jail', (backend) => {
  /** RBAC refuses these users nothing, nor does the guard, which an earlier test may have left. */
  const as = (user: string): Api => backend.as(user, 'system:masters', 'reeve:break-glass');

  beforeAll(async () => {
    await backend.installKinds();
    await installPolicies(backend, '41-jail.yaml');
    await setScene(as('ann'), team);
    const unmarked = `${at('secrets', team)}?dryRun=All`;
    await until(
      async () => (await as(accounts.reconciler).create(unmarked, secretOf('probe'))).status === 403,
      () => 'the jail is in force',
    );
  });
  afterAll(() => clearScene(as('ann'), team));

  async function expectRefused({ send, jail }: Attempt): Promise<void> {
    for (const user of Object.values(accounts)) {
      const { status, body } = await send(as(user));
      expect(body.message).toMatch(says);
      expect(body.message).toContain(jail);
      expect(status).toBe(403);
    }
  }

  it.concurrent.each(attempts(team))('the jail does not let Reeve $what', expectRefused);

  it('the jail refuses an object that a clause cannot read, too', async () => {
    const path = at('validatingwebhookconfigurations', '', 'reeve');
    const { status, body } = await apply(path, hooksOf({ rules: undefined }))(as(accounts.webhook));
    expect(body.message).toMatch(says);
    expect(status).toBe(422);
  });

  it.concurrent.each(duties(team))('the jail lets Reeve $what', async ({ send }) => {
    for (const user of Object.values(accounts)) {
      const { status, body } = await send(as(user));
      expect([200, 201], body.message).toContain(status);
    }
  });

  it.each(['secret', 'configmap'] as const)('the jail permits Reeve to release a large %s', async (kind) => {
    const place = at(`${kind}s`, team);
    await backend.api.must(
      as(accounts.reconciler).create(place, JSON.parse(largeManifest(kind, { name: 'large' }))),
    );
    const release = { metadata: { labels: null, annotations: null } };
    const { status, body } = await as(accounts.reconciler).patch(`${place}/large`, 'merge', release);
    expect(status, body.message).toBe(200);
  });

  it('the jail permits Reeve to add a label and an annotation to a Namespace with 30,000 annotations', async () => {
    const name = 'jail-contract-large';
    const annotations = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`a${index}`, '']));
    const namespaces = at('namespaces', '');
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } };
    await backend.api.must(as('ann').create(namespaces, body));
    const added = { labels: { tier: 'x' }, annotations: { contact: 'ann' } };
    const api = as(accounts.reconciler);
    const { status, body: answer } = await api.patch(`${namespaces}/${name}`, 'merge', { metadata: added });
    await backend.api.delete(`${namespaces}/${name}`);
    expect(status, answer.message).toBe(200);
  });

  describe('with its authority there', () => {
    beforeAll(() => setAuthority(as('ann')));

    it.each(authorityAttempts())('the jail does not let Reeve $what', expectRefused);
  });

  describe('others', () => {
    it.each([
      'system:serviceaccount:reeve-system:default',
      'system:serviceaccount:reeve-systems:reeve-webhook',
      'ann',
    ])('other users such as %s are not restricted', async (user) => {
      const { status } = await as(user).create(`${at('secrets', team)}?dryRun=All`, secretOf('new'));
      expect(status).toBe(201);
    });
  });
});
