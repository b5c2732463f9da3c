// Policies and shares as their authors write them with kubectl: one case for each path to the webhook.
// All texts are in test/fixtures/admission/owners.*.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { allowed, dryRun, must, refused, type Command } from './support/attempt.ts';
import { cleanUp } from './support/clean-up.ts';
import { createNamespace } from './support/namespace-commands.ts';
import { policy, roleBinding, share } from './support/objects.ts';
import { emergency, grant, person } from './support/people.ts';
import { runLine } from './support/shell.ts';
import { file, patch, waysToWrite } from './support/ways-to-write.ts';

const prefix = 'ad-ow-';
const everywhere = { names: ['ad-ow-ns-*'] };
const three = '3 namespaces: ad-ow-ns-a, ad-ow-ns-b, ad-ow-ns-c';
const contents = { roleBindings: [roleBinding('reader', 'ad-ow-staff')] };

/** Requires a role that the author of the policy may not grant. */
const provided = [
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['clusterroles'],
    resourceNames: ['view'],
    verbs: ['bind'],
  },
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['rolebindings'],
    verbs: ['create', 'patch', 'delete'],
  },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch', 'delete'] },
];

/** The schema of the CRD can detect none of the problems of this policy. */
const wrong = policy('ad-ow-wrong', {
  match: {
    matchConditions: [
      { name: 'cut', expression: 'namespaceObject.' },
      { name: 'strange', expression: "object.metadata.name == 'x'" },
    ],
  },
  namespaces: {
    name: { pattern: '(' },
    required: { labels: { team: { pattern: '^a$' } } },
    defaults: { labels: { team: 'b' }, annotations: { by: '${nobody}' } },
  },
  validations: [{ name: 'number', expression: '1' }],
  exceptions: [{ namespaces: ['x'], rules: ['validations/other'] }],
});

describeCluster('policies and shares at admission', () => {
  const cluster = sharedCluster();
  /** Has the right to write policies and shares, and every right that these require. */
  const author = person(cluster, 'ad-ow-author');
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster, { role: 'webhook' });
    const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
    const ours = { apiGroups: ['reeve.dev'], resources: ['namespacepolicies', 'secretshares'], verbs };
    await grant(cluster, { name: 'ad-ow-authors', rules: [ours, ...provided], users: ['ad-ow-author'] });
    for (const name of ['a', 'b', 'c']) await must(createNamespace(`ad-ow-ns-${name}`), cluster);
    const probe = file(['create'], policy('ad-ow-probe', { match: everywhere }));
    await until(
      async () => (await dryRun(probe, author)).stderr.includes(three),
      async () => `the namespaces are known: ${(await dryRun(probe, author)).stderr}`,
    );
  });
  afterAll(async () => {
    await cleanUp(cluster, prefix);
    await reeve.stop();
  });

  const create = (object: object): Command => file(['create'], object);
  const storedSpec = async (kind: string, name: string): Promise<string> =>
    await mustKubectl(['get', kind, name, '-o=jsonpath={.spec}'], cluster);

  describe('what is wrong', () => {
    it('the API server refuses what its schema can say, with all problems at once', async () => {
      const spec = {
        match: { names: ['AD'] },
        existing: 'Perhaps',
        contents: { roleBindings: [{ ...roleBinding('x', 'y'), roleRef: { kind: 'Role', name: 'x' } }] },
      };
      // The order differs in each answer, so no two answers are the same.
      const said = await refused({ ...create(policy('ad-ow-wrong', spec)), isReal: true }, author);
      for (const path of [
        'spec.match.names[0]',
        'spec.existing',
        'spec.contents.roleBindings[0].roleRef.kind',
      ]) {
        expect(said).toContain(`* ${path}: `);
      }
      const both = policy('ad-ow-wrong', { match: {}, validationActions: ['Deny', 'Warn'] });
      expect(await refused(create(both), author)).toContain('must not have both Deny and Warn');
    });

    it('each of several objects in one file is refused by itself', async () => {
      const good = policy('ad-ow-right', { match: everywhere });
      const items = [
        wrong,
        good,
        share('ad-ow-wrong', { source: { namespace: 'default', name: 'x' }, targets: everywhere }),
      ];
      const { code, stderr } = await kubectl(['apply', '-f', '-'], {
        ...author,
        input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      });
      expect(code).toBe(1);
      expect(stderr).toContain('NamespacePolicy ad-ow-wrong is refused for 7 reasons:');
      expect(stderr).toContain('SecretShare ad-ow-wrong is refused: spec.source.namespace: found "default"');
      expect(await mustKubectl(['get', 'nspol', 'ad-ow-right', '-o=name'], cluster)).toContain('ad-ow-right');
    });

    it('an unknown field is refused by kubectl, and otherwise pruned by the API server', async () => {
      const unknown = policy('ad-ow-unknown', {
        match: everywhere,
        nmaespaces: {},
        namespaces: { requird: {} },
      });
      expect(await refused(create(unknown), author)).toContain(
        'strict decoding error: unknown field "spec.namespaces.requird", unknown field "spec.nmaespaces"',
      );
      await allowed(file(['create', '--validate=ignore'], unknown), author);
      expect(JSON.parse(await storedSpec('nspol', 'ad-ow-unknown'))).toMatchObject({ namespaces: {} });
      expect(await storedSpec('nspol', 'ad-ow-unknown')).not.toMatch(/requird|nmaespaces/);
    });
  });

  describe('a share whose source is outside of the source namespaces', () => {
    const good = share('ad-ow-share', {
      source: { namespace: 'reeve-shared', name: 'ad-ow' },
      targets: everywhere,
    });
    beforeAll(() => must(file(['apply'], good), author));

    // No API server accepts a strategic patch of a custom kind.
    const ways = waysToWrite.filter(({ way }) => way !== 'strategic-patch');

    it.each(ways)('a share with such a source is refused when it is changed: $way', async ({ write }) => {
      expect(await refused(write(good, ['spec', 'source', 'namespace'], 'default'), author)).toBe(
        'SecretShare ad-ow-share is refused: spec.source.namespace: found "default"; accepted: reeve-shared',
      );
    });
  });

  describe('a stored object that does not load', () => {
    const finalizers = (names: readonly string[]): Command =>
      patch(wrong, 'merge', { metadata: { finalizers: names } });

    beforeAll(async () => {
      await must(file(['create'], wrong), emergency(cluster));
      await must(finalizers(['example.com/held', 'example.com/also']), emergency(cluster));
    });

    it('a stored object that does not load can lose a finalizer, be labeled and get a status', async () => {
      expect(await allowed(finalizers(['example.com/held']), author)).toBe('');
      expect(await allowed({ args: ['label', 'nspol', 'ad-ow-wrong', 'x=y'] }, author)).toBe('');
      const status = patch(wrong, 'merge', { status: { matched: 1 } }, '--subresource=status');
      expect(await allowed(status, cluster)).toBe('');
    });

    it('a stored object that does not load cannot change to another invalid spec', async () => {
      expect(await refused(patch(wrong, 'merge', { spec: { suspend: true } }), author)).toContain(
        'for 7 reasons',
      );
    });

    it('a stored object that does not load can be deleted, and then lose its last finalizer', async () => {
      expect(await allowed({ args: ['delete', 'nspol', 'ad-ow-wrong', '--wait=false'] }, author)).toContain(
        'NamespacePolicy/ad-ow-wrong: the stored version is not valid, so its objects are released, not deleted',
      );
      expect(await allowed(finalizers([]), author)).toBe('');
      const { stderr } = await kubectl(['get', 'nspol', 'ad-ow-wrong'], cluster);
      expect(stderr).toContain('NotFound');
    });
  });

  it.each([
    {
      what: 'objects elsewhere',
      spec: {
        contents: {
          resources: [
            { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'kube-system' } },
          ],
        },
      },
      says: 'no namespace, because the object is created in each matched namespace',
    },
    {
      what: 'defaults from the payload of a Secret',
      spec: { secrets: { defaults: { labels: { leak: '${string(object.data.password)}' } } } },
      says: 'spec.secrets.defaults.labels.leak: found there is no variable object here',
    },
  ])('a policy with $what is refused', async ({ spec, says }) => {
    expect(await refused(create(policy('ad-ow-never', spec)), author)).toContain(says);
  });

  describe('the author gets a warning', () => {
    const spec = { match: everywhere, maxDeletions: 1, contents };
    const reach = policy('ad-ow-reach', spec);
    const two = '2 namespaces (ad-ow-ns-b, ad-ow-ns-c)';
    const fewer = { ...reach, spec: { ...spec, match: { names: ['ad-ow-ns-a'] } } };

    it('a warning names the namespaces that a policy now reaches', async () => {
      expect(await allowed(file(['apply'], reach), author)).toBe(
        `Warning: NamespacePolicy/ad-ow-reach now reaches ${three}\n`,
      );
    });

    it('a warning names a role that this installation does not let Reeve bind', async () => {
      const roleBindings = [roleBinding('owner', 'ad-ow-staff', 'cluster-admin')];
      const much = policy('ad-ow-much', { match: everywhere, contents: { roleBindings } });
      expect((await dryRun(create(much), cluster)).stderr).toContain(
        'NamespacePolicy/ad-ow-much binds ClusterRole cluster-admin, which this installation does not let Reeve bind',
      );
    });

    it('a change that deletes too much is refused, with the way to confirm it', async () => {
      const said = await refused(file(['apply'], fewer), author);
      expect(said).toBe(
        `NamespacePolicy ad-ow-reach is refused: this write would delete up to 2 objects in ${two}, and spec.maxDeletions is 1. ` +
          'To confirm, set the annotation in the same write: ' +
          'kubectl annotate --local -f FILE --overwrite reeve.dev/confirm-deletions=2 -o yaml | kubectl apply -f -',
      );
      const path = join(cluster.folder, 'ad-ow-fewer.json');
      await writeFile(path, JSON.stringify(fewer));
      await runLine(/kubectl annotate .*$/.exec(said)?.[0].replace('FILE', path) ?? '', cluster);
      expect(JSON.parse(await storedSpec('nspol', 'ad-ow-reach'))).toMatchObject(fewer.spec);
      await must(file(['apply'], reach), author);
    });

    it('a deletion that deletes too much is refused, with the way to confirm it', async () => {
      const deletion = { args: ['delete', 'nspol', 'ad-ow-reach', '--wait=false'] };
      const said = await refused(deletion, author);
      expect(said).toContain(
        'this write would delete up to 3 objects in 3 namespaces (ad-ow-ns-a, ad-ow-ns-b, ad-ow-ns-c), and spec.maxDeletions is 1',
      );
      expect(said).toContain(
        'annotate namespacepolicies.reeve.dev ad-ow-reach --overwrite reeve.dev/confirm-deletions=3',
      );
      await runLine(/kubectl annotate .*$/.exec(said)?.[0] ?? '', cluster);
      const removed = three.replace('3 ', '');
      expect(await allowed(deletion, author)).toBe(
        `Warning: NamespacePolicy/ad-ow-reach no longer reaches ${three}\n` +
          `Warning: NamespacePolicy/ad-ow-reach lacks the finalizer reeve.dev/cleanup, so it leaves up to 3 objects behind in ${removed}\n`,
      );
    });

    it('a warning names the kinds that the install does not allow', async () => {
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' } };
      const other = policy('ad-ow-kinds', {
        match: { names: ['ad-ow-ns-a'] },
        contents: { resources: [deployment] },
      });
      expect(await allowed(create(other), author)).toContain(
        'Warning: NamespacePolicy/ad-ow-kinds provides kinds that this installation does not allow, so Reeve does not create them: apps/v1/Deployment\n',
      );
    });
  });
});
