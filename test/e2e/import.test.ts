// Moving from older tools on a real API server: the steps of `reeve import`, as printed, keep each object that the tool has created.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guessedPlural } from '../../src/base/text.ts';
import { kindsAreServed } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { runCommand } from './support/command.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, source, type Ref, type WrittenObject } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'im-';
const reflector = 'reflector.v1.k8s.emberstack.com/';
const [shop, web, oil, acme, dev] = ['shop', 'web', 'oil', 'acme', 'acme-dev'].map(
  (name) => `${prefix}${name}`,
) as [string, string, string, string, string];
const team = { [`${prefix}team`]: 'blue' };
const depth = 'tree.hnc.x-k8s.io/depth';

/** Kinds of the tools, in the versions that the importers know. */
const rbacDefinition = { apiVersion: 'rbacmanager.reactiveops.io/v1beta1', kind: 'RBACDefinition' };
const multiSecret = { apiVersion: 'multi.ddnw.ml/v1alpha1', kind: 'MultiSecret' };
const hncConfiguration = { apiVersion: 'hnc.x-k8s.io/v1alpha2', kind: 'HNCConfiguration' };
const hierarchy = { apiVersion: 'hnc.x-k8s.io/v1alpha2', kind: 'HierarchyConfiguration' };
const tenant = { apiVersion: 'capsule.clastix.io/v1beta2', kind: 'Tenant' };
const clusterPolicy = { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy' };
/** Kyverno prefers this version, which does not serve policies. */
const updateRequest = { apiVersion: 'kyverno.io/v2', kind: 'UpdateRequest' };

type Type = typeof tenant;

const definitions = [
  ...[rbacDefinition, hncConfiguration, tenant, clusterPolicy].map((type) => definitionOf(type, 'Cluster')),
  ...[multiSecret, hierarchy, updateRequest].map((type) => definitionOf(type, 'Namespaced')),
];

function definitionOf({ apiVersion, kind }: Type, scope: 'Cluster' | 'Namespaced') {
  const [group = '', version = ''] = apiVersion.split('/');
  const [plural, singular] = [guessedPlural(kind), kind.toLowerCase()];
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const versions = [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { kind, plural, singular }, versions },
  };
}

const apiGroup = 'rbac.authorization.k8s.io';

function binding(metadata: WrittenObject['metadata'], role: string, group: string): WrittenObject {
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'Group', name: group }],
  };
}

function secret(metadata: WrittenObject['metadata'], stringData: Readonly<Record<string, string>>) {
  return { ...source(metadata.name, stringData), metadata };
}

interface Move {
  readonly steps: readonly string[];
  readonly deletions: readonly string[];
}

const adopting = ['kubectl apply', 'reeve adopt'];
const replacing = ['kubectl patch', 'kubectl delete'];

describeControllers('a move', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const admin = `--kubeconfig=${cluster.kubeconfig}`;
  withReeve(stage);

  beforeAll(async () => {
    await applied(...definitions);
    const names = definitions.map(({ metadata }) => `crd/${metadata.name}`);
    await kindsAreServed(stage.administrator, ...names);
    await stage.apply(
      ...[shop, web].map((name) => namespaceObject(name, team)),
      namespaceObject(oil, { 'capsule.clastix.io/tenant': oil }),
      namespaceObject(acme, { [`${acme}.${depth}`]: '0' }),
      namespaceObject(dev, { [`${acme}.${depth}`]: '1', [`${dev}.${depth}`]: '0' }),
    );
  });
  afterAll(async () => {
    // The only object of these imports whose name has no prefix.
    await stage.kubectl('delete', 'namespacepolicy', 'outside-tenants', '--ignore-not-found');
    await stage.kubectl('delete', 'crd', ...definitions.map(({ metadata }) => metadata.name));
  });

  async function applied(...items: readonly object[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await mustKubectl(['apply', '-f', '-'], { ...stage.administrator, input });
  }

  /** The reference with which a tool owns what it has created. */
  async function ownedBy({ apiVersion, kind }: Type, name: string) {
    const uid = await stage.kubectl('get', kind.toLowerCase(), name, '-o', 'jsonpath={.metadata.uid}');
    return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
  }

  async function imported(tool: string): Promise<{ readonly file: string; readonly text: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-import-'));
    const [file, secrets] = [join(folder, 'objects.yaml'), join(folder, 'secrets.yaml')];
    const { code, stdout, stderr } = await runCommand(['import', tool, admin, '--secrets-file', secrets]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.not.stringContaining('could not be read') as string,
    });
    await writeFile(file, stdout);
    return { file, text: stdout };
  }

  /** Runs each step that is a command of kubectl or reeve. The others are for people. */
  async function followed({ file, text }: Awaited<ReturnType<typeof imported>>): Promise<readonly string[]> {
    const steps = [...text.matchAll(/^# {3}\d+\. (.*)$/gm)].map(([, step = '']) => step);
    const done: string[] = [];
    for (const step of steps) {
      const [, secrets] = /^kubectl apply -f (\S+), delete that file/.exec(step) ?? [];
      if (secrets !== undefined) await stage.kubectl('apply', '-f', secrets);
      else if (step === 'kubectl apply -f the objects of this import')
        await stage.kubectl('apply', '-f', file);
      else if (/^kubectl (?:patch|wait) .* && kubectl delete /.test(step))
        for (const command of step.split(' && ')) await stage.kubectl(...words(command).slice(1));
      else if (step.startsWith('reeve adopt '))
        await inTime(async () => {
          const adopted = await runCommand([...words(step).slice(1), admin, '--yes']);
          return adopted.stderr;
        }).toContain('marked ');
      else continue;
      done.push(...step.split(' && ').map((command) => command.split(' ').slice(0, 2).join(' ')));
    }
    // Reeve takes over a marked object a moment later.
    await inTime(() => runCommand(['plan', '-f', file, admin])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing to change') as string,
    });
    return done;
  }

  /** Follows the steps, and returns them with what they have deleted. */
  async function moved(tool: string, made: readonly WrittenObject[], owner: string): Promise<Move> {
    const objects = made.map(({ kind, metadata }): Ref => ({ kind, ...metadata }));
    const places = [...new Set(objects.flatMap(({ namespace }) => namespace ?? []))];
    const before = await stage.uidsOf(...objects);
    const steps = await followed(await imported(tool));
    await inTime(() => stage.ownersOf(...objects)).toEqual(objects.map(() => owner));
    expect(await stage.uidsOf(...objects)).toEqual(before);
    // Capsule owns Namespaces, too.
    for (const name of places) await stage.mustGet({ kind: 'Namespace', name });
    const deletions = await Promise.all(places.map((name) => stage.deletionsIn(name)));
    return { steps, deletions: deletions.flat() };
  }

  test('a move from rbac-manager keeps the RoleBindings that a definition owns', async () => {
    const name = `${prefix}teams`;
    const roleBindings = [{ clusterRole: 'view', namespaceSelector: { matchLabels: team } }];
    await applied({
      ...rbacDefinition,
      metadata: { name, finalizers: ['example.com/of-the-tool'] },
      rbacBindings: [{ name: 'devs', subjects: [{ kind: 'Group', name: 'devs' }], roleBindings }],
    });
    const ownerReferences = await ownedBy(rbacDefinition, name);
    const labels = { 'rbac-manager': 'reactiveops' };
    const made = [shop, web].map((namespace) =>
      binding({ name: `${name}-devs-view`, namespace, labels, ownerReferences }, 'view', 'devs'),
    );
    await stage.apply(...made);
    const steps = [...replacing, ...adopting];
    expect(await moved('rbac-manager', made, `NamespacePolicy/${name}`)).toEqual({ steps, deletions: [] });
    expect(await stage.kubectl('get', 'rbacdefinitions', '-o', 'name')).toBe('');
  });

  test('a move from reflector keeps its mirrors', async () => {
    const name = `${prefix}registry`;
    const allowed = { 'reflection-allowed': 'true', 'reflection-auto-enabled': 'true' };
    const annotations = prefixed({ ...allowed, 'reflection-auto-namespaces': `${shop},${web}` });
    await stage.apply(secret({ name, namespace: 'reeve-shared', annotations }, { password: 'new' }));
    const marks = { reflects: `reeve-shared/${name}`, 'auto-reflects': 'True', 'reflected-version': '1' };
    const made = [shop, web].map((namespace) =>
      secret({ name, namespace, annotations: prefixed(marks) }, { password: 'old' }),
    );
    await stage.apply(...made);
    const move = await moved('reflector', made, `SecretShare/${name}`);
    expect(move).toEqual({ steps: adopting, deletions: [] });
    await inTime(() => stage.condition({ kind: 'SecretShare', name })).toBe('True Synced');
  });

  test('from HNC keeps its copies, and the Secret moves to a shared namespace', async () => {
    const name = `${prefix}database`;
    const labels = { team: 'acme' };
    const password = { password: 'same' };
    await applied(
      { ...hncConfiguration, metadata: { name: 'config' }, spec: { resources: [{ resource: 'secrets' }] } },
      { ...hierarchy, metadata: { name: 'hierarchy', namespace: dev }, spec: { parent: acme } },
    );
    await stage.apply(secret({ name, namespace: acme, labels }, password));
    const inherited = { ...labels, 'hnc.x-k8s.io/inherited-from': acme };
    const made = [secret({ name, namespace: dev, labels: inherited }, password)];
    await stage.apply(...made);
    const steps = ['kubectl apply', ...adopting];
    expect(await moved('hnc', made, `SecretShare/${acme}-${name}`)).toEqual({ steps, deletions: [] });
  });

  test('from Capsule keeps the Namespaces and objects that a Tenant owns, and replaces its RoleBindings', async () => {
    const hard = { pods: '10' };
    await applied({
      ...tenant,
      metadata: { name: oil, finalizers: ['example.com/of-the-tool'] },
      spec: {
        owners: [{ kind: 'Group', name: 'oil', clusterRoles: ['edit'] }],
        resourceQuotas: { scope: 'Namespace', items: [{ hard }] },
      },
    });
    const ownerReferences = await ownedBy(tenant, oil);
    const quota: WrittenObject = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: `capsule-${oil}-0`, namespace: oil, ownerReferences },
      spec: { hard },
    };
    const hashed = { 'projectcapsule.dev/tenant': oil, 'capsule.clastix.io/role-binding': '2f1d9b' };
    const name = `capsule-${oil}-2f1d9b`;
    const labels = { 'capsule.clastix.io/tenant': oil };
    await stage.apply(
      { ...namespaceObject(oil, labels), metadata: { name: oil, labels, ownerReferences } },
      quota,
      binding({ name, namespace: oil, labels: hashed, ownerReferences }, 'edit', 'oil'),
    );
    const steps = [...replacing, ...adopting, 'kubectl wait', 'kubectl delete'];
    const deletions = [`delete rolebindings.${apiGroup} ${name}`];
    expect(await moved('capsule', [quota], `NamespacePolicy/${oil}`)).toEqual({ steps, deletions });
    expect(await stage.ownersOf({ kind: 'RoleBinding', name: `${oil}-edit`, namespace: oil })).toEqual([
      `NamespacePolicy/${oil}`,
    ]);
  });

  test('from Kyverno keeps what a rule has generated, also where its preferred version does not serve policies', async () => {
    const hard = { pods: '5' };
    const name = `${prefix}limits`;
    const generate = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      name,
      namespace: '{{request.object.metadata.name}}',
      synchronize: true,
      data: { spec: { hard } },
    };
    const match = { any: [{ resources: { kinds: ['Namespace'], names: [shop, web] } }] };
    const rules = [{ name: 'quota', skipBackgroundRequests: true, match, generate }];
    await applied({ ...clusterPolicy, metadata: { name }, spec: { admission: true, rules } });
    const labels = { 'generate.kyverno.io/policy-name': name };
    const made = [shop, web].map((namespace): WrittenObject => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name, namespace, labels },
      spec: { hard },
    }));
    await stage.apply(...made);
    const move = await moved('kyverno', made, `NamespacePolicy/${name}-quota`);
    expect(move).toEqual({ steps: adopting, deletions: [] });
  });

  test('a move from MultiSecret keeps the Secrets in all namespaces', async () => {
    const name = `${prefix}proxy`;
    const stringData = { password: 'same' };
    const finalizers = ['multi.ddnw.ml/finalizer'];
    await applied({ ...multiSecret, metadata: { name, namespace: shop, finalizers }, spec: { stringData } });
    const made = [shop, web].map((namespace) =>
      secret({ name: `${name}.${shop}.multisec`, namespace }, stringData),
    );
    await stage.apply(...made);
    const steps = ['kubectl apply', ...replacing, ...adopting];
    const move = await moved('multisecret', made, `SecretShare/${name}.${shop}`);
    expect(move).toEqual({ steps, deletions: [`delete multisecrets.multi.ddnw.ml ${name}`] });
  });
});

function prefixed(keys: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(keys).map(([key, value]) => [`${reflector}${key}`, value]));
}

/** The words of a command, whose only quotes are those around the patch. */
function words(command: string): readonly string[] {
  return (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
}
