// Intents with the kinds of security engines: Kyverno's real kinds, and KubeArmor's rebuilt from its documentation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { installEngines } from './support/engine-kinds.ts';

const strict = 'fieldValidation=Strict&dryRun=All';

describeControllers('on a cluster with the kinds of Kyverno and KubeArmor', () => {
  // Its own cluster: kinds come and go for everybody.
  let cluster: ControlPlane;

  beforeAll(async () => {
    cluster = await startControlPlane();
    await installEngines(cluster, 'kyverno', 'kubearmor');
  });
  afterAll(async () => {
    await cluster.stop();
  });

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
    const create = async (group: string, object: object): Promise<string> => {
      const { status, body } = await cluster.admin.send(
        'POST',
        `/apis/${group}/namespaces/default/${group.startsWith('kyverno') ? 'policies' : 'kubearmorpolicies'}?${strict}`,
        object,
      );
      return `${status} ${(body as { readonly message?: string }).message ?? ''}`;
    };

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
      expect(await create('security.kubearmor.com/v1', armor({}))).toBe('201 ');
      expect(await create('security.kubearmor.com/v1', armor(spec))).toMatch(reason);
    });

    test("a misspelled field of Kyverno's Policy is refused", async () => {
      const validate = { failureAction: 'Enforce', podSecurity: { level: 'baseline', version: 'latest' } };
      expect(await create('kyverno.io/v1', kyverno(validate))).toBe('201 ');
      const misspelled = { failureAction: 'Enforce', podSecurty: { level: 'baseline' } };
      expect(await create('kyverno.io/v1', kyverno(misspelled))).toMatch(/^400 .*podSecurty/);
    });
  });
});
