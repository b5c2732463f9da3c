// Reeve's accounts, with their own tokens and the shipped rights, send requests that their work does not need.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve, removeWebhooks, reeveNamespace } from '../cluster/reeve-install.ts';
import type { Api } from '../contract/support/api.ts';
import { at } from '../contract/support/objects.ts';
import type { Attempt } from '../support/jail/attempt.ts';
import { attempts } from '../support/jail/attempts.ts';
import { beyondRights } from '../support/jail/beyond.ts';
import { duties } from '../support/jail/duties.ts';
import { authorityAttempts } from '../support/jail/own-attempts.ts';
import {
  clearScene,
  configMapOf,
  hookKinds,
  secretOf,
  setAuthority,
  setScene,
  type Account,
} from '../support/jail/scene.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { Logins } from './support/logins.ts';

const team = 'jail-team';
const names: readonly Account[] = ['webhook', 'reconciler'];
const jailSays = /ValidatingAdmissionPolicy '(reeve-jail(-owner)?)' with binding '\1' denied request: /;
const eitherSays = /ValidatingAdmissionPolicy 'reeve-(guard|jail)' with binding 'reeve-\1' denied request: /;
/** RBAC has other messages for a role that the account may not bind and a user whom it may not impersonate. */
const rbacSays =
  /User "system:serviceaccount:reeve-system:reeve-\w+" cannot |is attempting to grant RBAC permissions not currently held/;

describeControllers("Reeve's accounts", { timeout: 60_000 }, () => {
  const cluster = sharedCluster();
  const logins = new Logins(cluster);
  const apis = new Map<Account, Api>();
  /** A user to whom no control refuses anything. */
  let administrator: Api;

  beforeAll(async () => {
    await installReeve(cluster);
    await removeWebhooks(cluster);
    // With the rights of both roles in one account, the test could not tell which role refuses.
    await mustKubectl(['delete', '-f', 'manifests/all-in-one/10-rights.yaml'], cluster);
    for (const name of names) apis.set(name, await logins.account(reeveNamespace, `reeve-${name}`));
    const api = await logins.as('jail-admin', 'system:masters');
    administrator = api.as('jail-admin', 'system:masters', 'reeve:break-glass');
    await setScene(administrator, team);
    await until(
      async () =>
        (await as('reconciler').get(at('validatingwebhookconfigurations', '', 'reeve'))).status === 403,
      () => 'the reconciler has no rights but its own',
    );
    await until(
      async () =>
        (await as('reconciler').create(`${at('secrets', team)}?dryRun=All`, secretOf('probe'))).status ===
        403,
      () => 'the jail is in force',
    );
  });
  afterAll(async () => {
    await clearScene(administrator, team);
    logins.close();
  });

  function as(name: Account): Api {
    const api = apis.get(name);
    if (api === undefined) throw new Error('only from within a test');
    return api;
  }

  const refusalsOf = (tried: readonly Attempt[]) =>
    tried.flatMap(({ what, send, jail, ...by }) =>
      names.map((who) => ({ who, what, send, by: by[who], jail })),
    );
  const beyond = beyondRights(team).flatMap((each) => names.map((who) => ({ who, ...each })));
  const others = duties(team).flatMap(({ what, send, by }) =>
    names.filter((name) => !by.includes(name)).map((who) => ({ who, what, send })),
  );
  const own = duties(team).flatMap(({ what, send, by }) => by.map((who) => ({ who, what, send })));

  async function expectRefused({
    who,
    send,
    by,
    jail,
  }: ReturnType<typeof refusalsOf>[number]): Promise<void> {
    const { status, body } = await send(as(who));
    if (by === 'jail') expect(body.message).toMatch(jailSays);
    expect(body.message).toMatch({ jail, 'guard or jail': eitherSays, RBAC: rbacSays }[by]);
    expect(status).toBe(403);
  }

  describe('are refused', { concurrent: true }, () => {
    it.each(refusalsOf(attempts(team)))('$who: to $what, by $by', expectRefused);

    it.each([...beyond, ...others])('$who: to $what, by RBAC', async ({ who, send }) => {
      const { status, body } = await send(as(who));
      expect(body.message).toMatch(rbacSays);
      expect(status).toBe(403);
    });
  });

  it.concurrent.each(own)('$who may $what', async ({ who, send }) => {
    const { status, body } = await send(as(who));
    expect([200, 201], body.message).toContain(status);
  });

  describe('with the authority there, are refused', () => {
    beforeAll(() => setAuthority(administrator));

    it.each(refusalsOf(authorityAttempts()))('$who: to $what, by $by', expectRefused);

    it('the garbage collector deletes nothing that the install needs for a stolen token', async () => {
      const uid = '00000000-0000-0000-0000-000000000002';
      const owner = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        name: 'reeve-webhook',
        uid,
      };
      const metadata = { ownerReferences: [owner] };
      const paths = [
        ...hookKinds.map(({ path }) => `${path}/reeve`),
        ...['reeve-webhook', 'reeve-reconciler'].map((name) => at('leases', reeveNamespace, name)),
        at('secrets', reeveNamespace, 'reeve-webhook-ca'),
      ];
      for (const path of paths) {
        const tried = await Promise.all(names.map((name) => as(name).patch(path, 'merge', { metadata })));
        expect(tried.map(({ status }) => status)).toEqual([403, 403]);
      }
      // The garbage collector is at work: it deletes another object with such an owner.
      const canary = at('configmaps', team, 'orphan');
      const orphan = configMapOf('orphan', metadata);
      await administrator.must(administrator.apply(canary, orphan, 'fieldManager=ann'));
      await until(
        async () => (await administrator.get(canary)).status === 404,
        () => 'the garbage collector deletes an object whose owner does not exist',
      );
      for (const path of paths) expect((await administrator.get(path)).status, path).toBe(200);
    });
  });
});
