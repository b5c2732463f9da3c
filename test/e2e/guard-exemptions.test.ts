// The narrow exemptions from webhooks and guard: a neighbor of Reeve, a terminating Namespace, an exception of a policy.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { kubectl, mustKubectl, type KubectlOptions } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { guardSays, makeKept } from './guard-scene.ts';
import { owner } from './guarded-objects.ts';
import { allowed, must, refused, type Command } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import {
  annotateNamespace as annotate,
  applyNamespace,
  createNamespace as create,
  deleteNamespace as remove,
  labelNamespace as label,
  waysToRelabel,
} from './support/namespace-commands.ts';
import { configMap, policy } from './support/objects.ts';
import { grant, person } from './support/people.ts';
import { applyPolicies } from './support/policies.ts';
import { reconcilerUser } from './support/stage.ts';

const prefix = 'gu-ex-';
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const everything = { apiGroups: ['*'], resources: ['*'], verbs };
const required = { labels: { team: {} } };
const policies = [
  policy('gu-ex-fixed', { match: { names: ['gu-ex-*'] }, namespaces: { immutable: { labels: ['team'] } } }),
  policy('gu-ex-locked', {
    match: { names: ['gu-ex-locked*'] },
    namespaces: { deletion: { protect: true } },
  }),
  policy('gu-ex-tier', {
    match: { namespaceSelector: { matchLabels: { 'gu-ex-tier': 'team' } } },
    contents: { resources: [configMap('settings', {})] },
  }),
  ...['a', 'b'].map((name) =>
    policy(`gu-ex-rule-${name}`, {
      match: { names: ['gu-ex-excepted*'] },
      namespaces: { required },
      exceptions: name === 'a' ? [{ namespaces: ['gu-ex-excepted*'], rules: ['namespaces.required'] }] : [],
    }),
  ),
];

describeControllers('exemptions', () => {
  const cluster = sharedCluster();
  /** Has every right in RBAC except the use of policies. */
  const tenant = person(cluster, 'gu-ex-tenant', 'system:authenticated');
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook' });
    const accounts = ['gu-ex-neighbor', 'gu-ex-reeve-reconciler'];
    for (const account of accounts)
      await mustKubectl(['create', 'serviceaccount', account, '-n', 'reeve-system'], cluster);
    const groups = ['system:serviceaccounts:reeve-system'];
    await grant(cluster, { name: 'gu-ex-all', rules: [everything], users: ['gu-ex-tenant'], groups });
    for (const name of ['home', 'locked'])
      await must(create(`gu-ex-${name}`, { labels: { team: 'a' } }), cluster);
    const finalizers = JSON.stringify({ metadata: { finalizers: ['gu.example.com/held'] } });
    await must(applyNamespace('gu-ex-ending', { labels: { team: 'a' } }), cluster);
    await mustKubectl(['patch', 'namespace', 'gu-ex-ending', '--type=merge', '-p', finalizers], cluster);
    await must(remove('gu-ex-ending'), cluster);
    await makeKept(cluster, 'gu-ex-home');
    await applyPolicies(prefix, policies, cluster);
    await until(
      async () => (await kubectl(['get', 'secrets', '-n', 'gu-ex-home'], tenant)).code === 0,
      () => 'the rights are known',
    );
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    const accounts = ['gu-ex-neighbor', 'gu-ex-reeve-reconciler'];
    await mustKubectl(['delete', 'serviceaccount', ...accounts, '-n', 'reeve-system'], cluster);
    await reeve.stop();
  });

  describe(
    'a neighbor of Reeve with similar rights or a similar name is not exempt',
    { concurrent: true },
    () => {
      const change: Command = { args: ['label', 'configmap', 'kept', '-n', 'gu-ex-home', 'touched=yes'] };
      const inReeveSystem = (account: string) => async (): Promise<KubectlOptions> => ({
        kubeconfig: await cluster.tokenKubeconfig('reeve-system', account),
      });
      const named = (name: string) => (): Promise<KubectlOptions> =>
        Promise.resolve(person(cluster, name, 'system:serviceaccounts:reeve-system'));

      it.each([
        { who: 'an account of its namespace', login: inReeveSystem('gu-ex-neighbor') },
        { who: 'an account whose name ends like its own', login: inReeveSystem('gu-ex-reeve-reconciler') },
        { who: 'an account whose name begins like its own', login: named(`${reconcilerUser}2`) },
        { who: 'a user who is called like the account', login: named('reeve-reconciler') },
        { who: 'a user of the same letters', login: named(reconcilerUser.toUpperCase()) },
      ])('$who', async ({ login }) => {
        const who = await login();
        expect(await refused(change, who)).toContain(`Reeve keeps ConfigMap kept for ${owner}`);
        expect(await refused(label('gu-ex-home', 'team=b'), who)).toContain(
          'policy gu-ex-fixed, namespaces.immutable',
        );
        expect(await refused(remove('gu-ex-locked'), who)).toContain(
          'policy gu-ex-locked, namespaces.deletion',
        );
        expect(await refused(label('gu-ex-home', 'gu-ex-tier=team'), who)).toContain(
          'under NamespacePolicy gu-ex-tier, and user ',
        );
      });
    },
  );

  describe('exemptions are not for a Namespace that ends', () => {
    // The API server refuses to replace the status without the current phase.
    const ways = waysToRelabel.filter(({ way }) => way !== 'replace-of-status');

    it.each(ways)('the labels of a terminating Namespace are judged: $way', async ({ relabel }) => {
      const labels = { team: 'b', 'gu-ex-tier': 'team' };
      const said = await refused(relabel('gu-ex-ending', labels), tenant);
      expect(said).toContain('policy gu-ex-fixed, namespaces.immutable');
      expect(said).toContain('under NamespacePolicy gu-ex-tier, and user ');
    });

    it('a terminating Namespace cannot carry the mark of Reeve', async () => {
      const mark = { args: ['label', 'namespace', 'gu-ex-ending', 'app.kubernetes.io/managed-by=reeve'] };
      expect((await kubectl(mark.args, tenant)).stderr).toContain(guardSays);
    });

    it('the end of a Namespace is not blocked', async () => {
      expect(await allowed(remove('gu-ex-ending'), tenant)).toBe('');
      const release = JSON.stringify({ metadata: { finalizers: null } });
      await mustKubectl(['patch', 'namespace', 'gu-ex-ending', '--type=merge', '-p', release], tenant);
      const gone = ['wait', '--for=delete', 'namespace/gu-ex-ending', '--timeout=60s'];
      expect((await kubectl(gone, cluster)).code).toBe(0);
    });
  });

  describe('that a policy makes', () => {
    it('an exception covers the rules of its own policy, and another policy still demands the same', async () => {
      const said = await refused(create('gu-ex-excepted'), tenant);
      expect(said).toContain('is refused: policy gu-ex-rule-b, namespaces.required');
      expect(said).not.toContain('gu-ex-rule-a');
    });

    it('exceptions stand only in policies, because the namespaced kinds of Reeve have none', async () => {
      const kinds = ['api-resources', '--api-group=reeve.dev', '-o=name', '--namespaced=true'];
      expect(await mustKubectl(kinds, cluster)).toBe(
        'namespaceclaims.reeve.dev\nsecurityintentbindings.reeve.dev\n',
      );
      for (const kind of ['nsclaim', 'sib']) {
        const { stderr } = await kubectl(['explain', `${kind}.spec.exceptions`], cluster);
        expect(stderr).toBe('error: field "exceptions" does not exist\n');
      }
      await must(create('gu-ex-excepted', { labels: { team: 'a' } }), tenant);
      const claimed = 'reeve.dev/exception=namespaces.required';
      expect(await allowed(annotate('gu-ex-excepted', claimed), tenant)).toBe('');
      expect(await refused(label('gu-ex-excepted', 'team-'), tenant)).toContain(
        'policy gu-ex-rule-b, namespaces.required',
      );
    });
  });
});
