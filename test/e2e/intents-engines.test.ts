// Intents with the kinds of security engines: Kyverno's real kinds, and KubeArmor's rebuilt from its documentation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { intentRenderings } from '../support/intent-cases.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { installEngines } from './support/engine-kinds.ts';

describeControllers('on a cluster with the kinds of Kyverno and KubeArmor', () => {
  // Its own cluster: the kinds would change what other tests find.
  let cluster: ControlPlane;

  beforeAll(async () => {
    cluster = await startControlPlane({ audit: false });
    await installEngines(cluster, 'kyverno', 'kubearmor');
  });
  afterAll(async () => {
    await cluster.stop();
  });

  /** Returns the code of the answer to a dry run, and why it was refused. */
  async function create(object: object): Promise<string> {
    const { apiVersion, kind } = object as { readonly apiVersion: string; readonly kind: string };
    const plural = kind === 'Policy' ? 'policies' : 'kubearmorpolicies';
    const path = `/apis/${apiVersion}/namespaces/default/${plural}?fieldValidation=Strict&dryRun=All`;
    const { status, body } = await cluster.admin.send('POST', path, object);
    return `${status} ${(body as { readonly message?: string }).message ?? ''}`;
  }

  describe('the kinds of the tests', () => {
    const armor = (spec: object): object => ({
      apiVersion: 'security.kubearmor.com/v1',
      kind: 'KubeArmorPolicy',
      metadata: { name: 'tried' },
      spec: { selector: { matchLabels: { app: 'web' } }, action: 'Block', ...spec },
    });
    const kyverno = (validate: object): object => ({
      apiVersion: 'kyverno.io/v1',
      kind: 'Policy',
      metadata: { name: 'tried' },
      spec: { rules: [{ name: 'pods', match: { any: [{ resources: { kinds: ['Pod'] } }] }, validate }] },
    });
    test.each([
      [
        'a field that no documentation names',
        { process: { matchPath: [{ path: '/bin/sh' }] } },
        /matchPath"/,
      ],
      ['a folder without its last slash', { process: { matchDirectories: [{ dir: '/tmp' }] } }, /dir/],
      [
        'an unknown capability',
        { capabilities: { matchCapabilities: [{ capability: 'CAP_SYS_ADMIN' }] } },
        /capability/,
      ],
      ['an unknown action', { action: 'Deny' }, /action/],
      ['a severity above 10', { severity: 11 }, /severity/],
    ])('a KubeArmorPolicy with %s is refused', async (_, spec, reason) => {
      expect(await create(armor({}))).toBe('201 ');
      expect(await create(armor(spec))).toMatch(reason);
    });

    test("a misspelled field of Kyverno's Policy is refused", async () => {
      const validate = { failureAction: 'Enforce', podSecurity: { level: 'baseline', version: 'latest' } };
      expect(await create(kyverno(validate))).toBe('201 ');
      const misspelled = { failureAction: 'Enforce', podSecurty: { level: 'baseline' } };
      expect(await create(kyverno(misspelled))).toMatch(/^400 .*podSecurty/);
    });
  });

  describe('what the adapters of engines give', () => {
    const given = intentRenderings.flatMap(({ title, adapter, rendering: { resources = [] } }) =>
      adapter === 'kyverno' || adapter === 'kubearmor' ? [{ title, adapter, resources }] : [],
    );
    test.each(given)('the API server accepts what $adapter gives for $title', async ({ resources }) => {
      expect(resources).not.toEqual([]);
      for (const object of resources) expect(await create(object)).toBe('201 ');
    });
  });
});
