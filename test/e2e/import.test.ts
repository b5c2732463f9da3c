// Moving from rbac-manager and reflector on a real API server: the steps of `reeve import`, as printed, delete no object.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kindsAreServed } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { runCommand } from './support/command.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, source, type Ref } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'im-';
const group = 'rbacmanager.reactiveops.io';
const reflector = 'reflector.v1.k8s.emberstack.com/';
const namespaces = [`${prefix}shop`, `${prefix}web`];

/** https://github.com/FairwindsOps/rbac-manager/blob/master/deploy/0_crd.yaml */
const definitions = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `rbacdefinitions.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { kind: 'RBACDefinition', plural: 'rbacdefinitions', singular: 'rbacdefinition' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const definition = {
  apiVersion: `${group}/v1beta1`,
  kind: 'RBACDefinition',
  metadata: { name: `${prefix}teams`, finalizers: ['example.com/of-the-tool'] },
  rbacBindings: [
    {
      name: 'devs',
      subjects: [{ kind: 'Group', name: 'devs' }],
      roleBindings: [{ clusterRole: 'view', namespaceSelector: { matchLabels: { owner: `${prefix}blue` } } }],
    },
  ],
};

describeControllers('a move', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const admin = `--kubeconfig=${cluster.kubeconfig}`;
  withReeve(stage);

  beforeAll(async () => {
    await applied(definitions);
    await kindsAreServed(stage.administrator, `crd/${definitions.metadata.name}`);
    await stage.apply(...namespaces.map((name) => namespaceObject(name, { owner: `${prefix}blue` })));
  });
  afterAll(async () => {
    await stage.kubectl('delete', 'crd', definitions.metadata.name);
  });

  async function applied(object: object): Promise<void> {
    await mustKubectl(['apply', '-f', '-'], { ...stage.administrator, input: JSON.stringify(object) });
  }

  /** Runs each step that is a command of kubectl or reeve. The others are for people. */
  async function followed(imported: string): Promise<readonly string[]> {
    const file = join(await mkdtemp(join(tmpdir(), 'reeve-import-')), 'objects.yaml');
    await writeFile(file, imported);
    const steps = [...imported.matchAll(/^# {3}\d+\. (.*)$/gm)].map(([, step = '']) => step);
    const done: string[] = [];
    for (const step of steps) {
      if (step === 'kubectl apply -f the objects of this import') await stage.kubectl('apply', '-f', file);
      else if (/^kubectl patch .* && kubectl delete /.test(step))
        for (const command of step.split(' && ')) await stage.kubectl(...words(command).slice(1));
      else if (step.startsWith('reeve adopt '))
        await inTime(async () => {
          const adopted = await runCommand([...words(step).slice(1), admin, '--yes']);
          return adopted.stderr;
        }).toContain('marked ');
      else continue;
      done.push(step.split(' ').slice(0, 2).join(' '));
    }
    // Reeve takes over a marked object a moment later.
    await inTime(() => runCommand(['plan', '-f', file, admin])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing to change') as string,
    });
    return done;
  }

  async function keeps(objects: readonly Ref[], owner: string, move: () => Promise<unknown>): Promise<void> {
    const before = await stage.uidsOf(...objects);
    await move();
    await inTime(() => stage.ownersOf(...objects)).toEqual(objects.map(() => owner));
    expect(await stage.uidsOf(...objects)).toEqual(before);
    for (const name of namespaces) expect(await stage.deletionsIn(name)).toEqual([]);
  }

  test('from rbac-manager keeps the RoleBindings that a definition owns', async () => {
    await applied(definition);
    const uid = (
      await stage.kubectl('get', 'rbacdefinition', `${prefix}teams`, '-o', 'jsonpath={.metadata.uid}')
    ).trim();
    const owner = {
      apiVersion: `${group}/v1beta1`,
      kind: 'RBACDefinition',
      name: `${prefix}teams`,
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    const name = `${prefix}teams-devs-view`;
    const objects = namespaces.map((namespace): Ref => ({ kind: 'RoleBinding', name, namespace }));
    const apiGroup = 'rbac.authorization.k8s.io';
    await stage.apply(
      ...namespaces.map((namespace) => ({
        apiVersion: `${apiGroup}/v1`,
        kind: 'RoleBinding' as const,
        metadata: { name, namespace, labels: { 'rbac-manager': 'reactiveops' }, ownerReferences: [owner] },
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' },
        subjects: [{ apiGroup, kind: 'Group', name: 'devs' }],
      })),
    );
    const imported = await runCommand(['import', 'rbac-manager', admin]);
    expect(imported).toMatchObject({ code: 0 });
    expect(imported.stdout).toContain(`# from RBACDefinition/${prefix}teams\n`);
    await keeps(objects, `NamespacePolicy/${prefix}teams`, async () => {
      expect(await followed(imported.stdout)).toEqual(['kubectl patch', 'kubectl apply', 'reeve adopt']);
    });
    expect(await stage.kubectl('get', 'rbacdefinitions', '-o', 'name')).toBe('');
  });

  test('from reflector keeps its mirrors, and reads only the Secrets that it needs', async () => {
    const name = `${prefix}registry`;
    const origin = source(name, { password: 'new' });
    const allowed = { 'reflection-allowed': 'true', 'reflection-auto-enabled': 'true' };
    const automatic = { ...allowed, 'reflection-auto-namespaces': `${prefix}.*` };
    await stage.apply({ ...origin, metadata: { ...origin.metadata, annotations: prefixed(automatic) } });
    const marks = { reflects: `reeve-shared/${name}`, 'auto-reflects': 'True', 'reflected-version': '1' };
    await stage.apply(
      ...namespaces.map((namespace) => ({
        ...source(name, { password: 'old' }),
        metadata: { name, namespace, annotations: prefixed(marks) },
      })),
    );
    const imported = await runCommand(['import', 'reflector', admin]);
    expect(imported).toMatchObject({ code: 0, stderr: '1 object; 0 parts could not be carried over\n' });
    const objects = namespaces.map((namespace): Ref => ({ kind: 'Secret', name, namespace }));
    await keeps(objects, `SecretShare/${name}`, async () => {
      expect(await followed(imported.stdout)).toEqual(['kubectl apply', 'reeve adopt']);
    });
    await inTime(() => stage.condition({ kind: 'SecretShare', name })).toBe('True Synced');
  });
});

function prefixed(keys: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(keys).map(([key, value]) => [`${reflector}${key}`, value]));
}

/** The words of a command, whose only quotes are those around the patch. */
function words(command: string): readonly string[] {
  return (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
}
