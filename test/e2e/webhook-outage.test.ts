// All replicas of the webhook fail while rules of all kinds are in force: what continues, what is refused, and how it ends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { attempt, must, type Command } from './support/attempt.ts';
import { configurationNames } from './support/configurations.ts';
import { inTime } from './support/in-time.ts';
import { deleteNamespace, labelNamespace } from './support/namespace-commands.ts';
import { policy } from './support/objects.ts';
import { OutageScene } from './support/outage-scene.ts';
import { emergency } from './support/people.ts';
import { file } from './support/ways-to-write.ts';

/** Requests that run one after the other. */
interface Work {
  readonly what: string;
  readonly does: readonly Command[];
}

const kubectlCommand = (...args: readonly string[]): Command => ({ args });
const merge = (what: readonly string[], patch: object, ...options: readonly string[]): Command =>
  kubectlCommand('patch', ...what, '--type=merge', `-p=${JSON.stringify(patch)}`, ...options);
const released = { metadata: { finalizers: [] } };
const ready = { type: 'Ready', status: 'True', reason: 'x', message: 'x' };
const create = (...items: readonly object[]): Command =>
  file(['create'], { apiVersion: 'v1', kind: 'List', items });
const node = (name: string): object => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
const lease = (namespace: string, name: string): object => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace },
});
const settings = (namespace: string, name: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
});

/** Objects in a namespace that causes no review. */
const judgedElsewhere = (namespace: string, name: string): readonly object[] => [
  { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData: { a: 'b' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name, namespace },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'x' }],
  },
];

const spared = ['kube-system', 'kube-public', 'kube-node-lease', 'reeve-system', 'reeve-shared'];

/** Names of objects end with the name of the scene, because one cluster has several scenes. */
function goesOn(scene: string): readonly Work[] {
  const [ending, going, name] = [`out-ending-${scene}`, `out-going-${scene}`, `out-${scene}`];
  const renewed = { spec: { holderIdentity: 'x' } };
  return [
    { what: 'reading', does: [kubectlCommand('get', 'namespaces,nspol,sshare,secrets', '-A')] },
    ...spared.map((namespace) => ({
      what: `work in ${namespace}`,
      does: [
        create(...judgedElsewhere(namespace, name), settings(namespace, name), lease(namespace, name)),
        merge(['lease', name, '-n', namespace], renewed),
        labelNamespace(namespace, `scene=${scene}`),
      ],
    })),
    {
      what: 'what a Node does',
      does: [
        create(node(name)),
        merge(['node', name], { status: { conditions: [ready] } }, '--subresource=status'),
        kubectlCommand('delete', 'node', name),
      ],
    },
    {
      what: 'what no policy judges in the namespace of a tenant',
      does: [
        create(settings('out-tenant', name), lease('out-tenant', name)),
        merge(['lease', name, '-n', 'out-tenant'], renewed),
        merge(['configmap', name, '-n', 'out-tenant'], { data: { a: 'b' } }),
        kubectlCommand('delete', `configmap/${name}`, `secret/${scene}`, '-n', 'out-tenant'),
      ],
    },
    {
      what: 'the status of policies and shares',
      does: [
        merge(['nspol', 'out-rules'], { status: { matched: 7 } }, '--subresource=status'),
        merge(['sshare', 'out-copies'], { status: { desired: 7 } }, '--subresource=status'),
      ],
    },
    {
      what: 'the end of a policy and a share that have only a finalizer left',
      does: [
        kubectlCommand('delete', `nspol/${going}`, `sshare/${going}`, '--wait=false'),
        merge(['nspol', going], released),
        merge(['sshare', going], released),
        kubectlCommand('wait', `nspol/${going}`, `sshare/${going}`, '--for=delete', '--timeout=60s'),
      ],
    },
    {
      what: 'the end of a namespace with copies of ours in it',
      does: [kubectlCommand('wait', `ns/${ending}`, '--for=delete', '--timeout=60s')],
    },
  ];
}

interface Refused extends Command {
  readonly what: string;
  /** The webhook that the API server could not call. */
  readonly by: string;
}

function isRefused(scene: string): readonly Refused[] {
  return [
    { what: 'a label', ...labelNamespace('out-tenant', `x=${scene}`), by: 'namespaces' },
    { what: 'the deletion of a namespace', ...deleteNamespace('out-tenant'), by: 'namespaces' },
    {
      what: 'a label by way of the status',
      ...merge(['ns', 'out-tenant'], { metadata: { labels: { x: scene } } }, '--subresource=status'),
      by: 'namespaces',
    },
    { what: 'a policy', ...file(['create'], policy(`out-new-${scene}`, {})), by: 'namespacepolicies' },
    {
      what: 'its spec',
      ...merge(['nspol', 'out-rules'], { spec: { suspend: true } }),
      by: 'namespacepolicies',
    },
    {
      what: 'the spec of a share',
      ...merge(['sshare', 'out-copies'], { spec: { suspend: true } }),
      by: 'secretshares',
    },
    {
      what: 'the deletion of a share',
      args: ['delete', 'sshare', 'out-copies', '--wait=false'],
      by: 'secretshares',
    },
    // The API server refuses these only because the failure policy of the install is Fail.
    {
      what: 'a Secret',
      args: ['create', 'secret', 'generic', `new-${scene}`, '-n', 'out-tenant'],
      by: 'secrets',
    },
    {
      what: 'a Role',
      args: ['create', 'role', scene, '-n', 'out-tenant', '--verb=get', '--resource=pods'],
      by: 'roles',
    },
    {
      what: 'a RoleBinding',
      args: ['create', 'rolebinding', scene, '-n', 'out-tenant', '--clusterrole=view', '--user=x'],
      by: 'rolebindings',
    },
  ];
}

const relabel = (value: string): Command => labelNamespace('out-tenant', `changed=${value}`);

describeControllers('all webhooks lost', { timeout: 240_000 }, () => {
  let scene: OutageScene;

  beforeAll(async () => {
    scene = await OutageScene.start();
    for (const name of ['hang', 'killed'])
      await mustKubectl(['create', 'secret', 'generic', name, '-n', 'out-tenant'], scene.plane);
  }, 240_000);
  afterAll(async () => {
    await scene.stop();
  });

  function lose(how: 'hang' | 'killed', said: RegExp): void {
    beforeAll(async () => {
      await scene.leaveUnfinished(`out-ending-${how}`, `out-going-${how}`);
      scene.begin(how);
    });

    it.concurrent.each(goesOn(how))('$what goes on', async ({ does }) => {
      for (const command of does) {
        const { code, stderr } = await attempt(command, scene.plane);
        expect(code, stderr).toBe(0);
      }
    });

    it('a judged write is refused with a clear message', async () => {
      const rows = isRefused(how);
      const outputs = await Promise.all(rows.map((row) => attempt(row, scene.plane)));
      for (const [index, { code, stderr }] of outputs.entries()) {
        const { what, by } = rows[index] ?? {};
        expect(code, `${what}: ${stderr}`).toBe(1);
        expect(stderr).toContain(
          `failed calling webhook "${by}.validate.reeve.dev": failed to call webhook: Post`,
        );
        expect(stderr).toMatch(said);
      }
    });

    it('break-glass works', async () => {
      const label = labelNamespace('out-tenant', `emergency=${how}`);
      expect((await attempt(label, emergency(scene.plane))).code).toBe(0);
    });
  }

  describe('all webhooks hang', () => {
    lose('hang', /context deadline exceeded|Client.Timeout exceeded/);

    it('the webhooks answer again when they continue', async () => {
      await scene.resume();
      expect((await attempt(relabel('awake'), scene.plane)).code).toBe(0);
    });
  });

  describe('all webhooks are killed', () => {
    lose('killed', /EOF|connection re(fused|set)/);
  });

  describe('the whole cluster stops and starts again', () => {
    beforeAll(async () => {
      await scene.killReeve();
      await scene.plane.cutPower();
      await scene.plane.restorePower();
    });

    it('a judged write is still refused', async () => {
      const { code, stderr } = await attempt(relabel('too-early'), scene.plane);
      expect(code).toBe(1);
      expect(stderr).toContain('failed calling webhook "namespaces.validate.reeve.dev"');
    });

    it.concurrent.each<Work>([
      { what: 'register Nodes', does: [create(node('out-first'), lease('kube-node-lease', 'out-first'))] },
      {
        what: 'create the Pods of Reeve again',
        does: [kubectlCommand('rollout', 'restart', 'deployment', '-n', 'reeve-system')],
      },
      {
        what: 'make another replica the leader',
        does: [merge(['lease', 'reeve-webhook', '-n', 'reeve-system'], { spec: { leaseTransitions: 9 } })],
      },
      { what: 'store the authority', does: [create(...judgedElsewhere('reeve-system', 'out-anew'))] },
    ])('the accounts that need it can $what while no webhook answers', async ({ does }) => {
      for (const command of does) {
        const { code, stderr } = await attempt(command, scene.plane);
        expect(code, stderr).toBe(0);
      }
    });

    it('once Reeve starts, everything works as before without a person', async () => {
      await scene.startReeve();
      await must(relabel('again'), scene.plane);
      const secret = [
        'create',
        'secret',
        'generic',
        'large',
        '-n',
        'out-tenant',
        `--from-literal=a=${'b'.repeat(1001)}`,
      ];
      const { code, stderr } = await kubectl(secret, scene.plane);
      expect([code, stderr]).toEqual([1, expect.stringContaining('policy out-rules, secrets.maxBytes')]);
      await inTime(() => scene.stage.condition({ kind: 'NamespacePolicy', name: 'out-rules' })).toBe(
        'True Synced',
      );
    });
  });

  it('nothing is refused once the configurations are removed', async () => {
    await scene.killReeve();
    expect((await attempt(relabel('refused'), scene.plane)).code).toBe(1);
    await mustKubectl(['delete', ...configurationNames], scene.plane);
    await inTime(async () => (await attempt(relabel('free'), scene.plane)).code).toBe(0);
  });
});
