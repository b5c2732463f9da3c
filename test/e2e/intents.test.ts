// What intents do where no security engine is installed, on a real API server: Pods, NetworkPolicies and ServiceAccounts.
import { beforeAll, describe, expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { inTime } from './support/in-time.ts';
import { clusterBinding, intent, namespaceObject, pod, type Ref } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'si-';
const privileged = { privileged: true };
const toResolver = {
  to: [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
  ],
  ports: [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ],
};

describeControllers('intents without engines', () => {
  const stage = new Stage(sharedCluster(), prefix);
  withReeve(stage);

  const bindingNamed = (name: string): Ref => ({ kind: 'ClusterSecurityIntentBinding', name });
  const labelsOf = async (name: string): Promise<Readonly<Record<string, string>>> =>
    (await stage.mustGet({ kind: 'Namespace', name })).metadata.labels ?? {};

  async function bound(name: string): Promise<void> {
    const ref = bindingNamed(name);
    await until(
      async () => (await stage.condition(ref)).startsWith('True '),
      () => stage.condition(ref),
    );
  }

  /** Creates the namespaces with their ServiceAccounts, without which the API server accepts no Pod. */
  async function createNamespaces(...names: readonly string[]): Promise<void> {
    await stage.apply(...names.map((name) => namespaceObject(name)));
    for (const name of names) {
      const account = { kind: 'ServiceAccount', name: 'default', namespace: name } as const;
      await until(
        async () => (await stage.get(account)) !== undefined,
        () => `the ServiceAccount of ${name}`,
      );
    }
  }

  /** Returns what kubectl prints on its error stream: refusals and warnings. */
  async function tryPod(namespace: string, name: string, securityContext = {}): Promise<string> {
    return (await stage.tryApply([pod(namespace, name, securityContext)])).stderr;
  }

  describe('escapeToHost', () => {
    const [old, young, audited] = [`${prefix}host-old`, `${prefix}host-new`, `${prefix}audit-old`];

    beforeAll(async () => {
      await createNamespaces(old, audited);
      await stage.apply(pod(old, 'before', privileged));
      await stage.apply(
        intent(`${prefix}host`, 'escapeToHost'),
        intent(`${prefix}report`, 'escapeToHost', { action: 'Audit', params: { psaLevel: 'restricted' } }),
        clusterBinding(`${prefix}host`, [`${prefix}host-*`], [`${prefix}host`]),
        clusterBinding(`${prefix}report`, [`${prefix}audit-*`], [`${prefix}report`]),
      );
      await bound(`${prefix}host`);
      await createNamespaces(young);
    });

    test.each([
      ['that existed before the binding', old],
      ['that is created later', young],
    ])('a privileged Pod is refused in a namespace %s', async (_, namespace) => {
      await inTime(() => labelsOf(namespace)).toHaveProperty(
        'pod-security.kubernetes.io/enforce',
        'baseline',
      );
      await inTime(() => tryPod(namespace, 'privileged', privileged)).toMatch(
        /violates PodSecurity "baseline:latest": privileged/,
      );
      expect(await tryPod(namespace, 'ordinary')).toBe('');
    });

    test('a Namespace with a weaker level is refused, and a Namespace with a stricter level keeps it', async () => {
      const label = 'pod-security.kubernetes.io/enforce';
      const weaker = namespaceObject(`${prefix}host-weak`, { [label]: 'privileged' });
      expect((await stage.tryApply([weaker])).stderr).toContain(label);
      const stricter = namespaceObject(`${prefix}host-strict`, { [label]: 'restricted' });
      await stage.apply(stricter);
      await inTime(() => stage.namespaceCondition(stricter.metadata.name)).toMatch(/^True /);
      expect(await labelsOf(stricter.metadata.name)).toHaveProperty(label, 'restricted');
    });

    test('with the action Audit, a Pod that violates the intent is accepted with a warning', async () => {
      await inTime(() => labelsOf(audited)).toMatchObject({
        'pod-security.kubernetes.io/audit': 'restricted',
        'pod-security.kubernetes.io/warn': 'restricted',
      });
      expect(await labelsOf(audited)).not.toHaveProperty('pod-security.kubernetes.io/enforce');
      await inTime(() => tryPod(audited, 'warned', privileged)).toMatch(
        /^Warning: would violate PodSecurity "restricted:latest"/,
      );
      expect(await stage.get({ kind: 'Pod', name: 'warned', namespace: audited })).toBeDefined();
    });
  });

  describe('NetworkPolicies', () => {
    const namespace = `${prefix}network`;
    const app = { matchLabels: { app: 'web' } };

    beforeAll(async () => {
      await createNamespaces(namespace);
      await stage.apply(
        intent(`${prefix}dns`, 'dnsManipulation'),
        intent(`${prefix}inside`, 'denyExternalNetworkAccess'),
        intent(`${prefix}ranges`, 'denyExternalNetworkAccess', { params: { ranges: ['10.96.0.0/12'] } }),
        clusterBinding(`${prefix}network`, [namespace], [`${prefix}dns`, `${prefix}inside`]),
        clusterBinding(`${prefix}selected`, [namespace], [`${prefix}ranges`], { workloads: app }),
      );
      await bound(`${prefix}network`);
      await bound(`${prefix}selected`);
    });

    const specOf = async (binding: string, intentName: string): Promise<unknown> => {
      const { status } = await stage.mustGet(bindingNamed(binding));
      const { name = '' } = status?.rendered?.find((each) => each.intent === intentName) ?? {};
      return (await stage.mustGet({ kind: 'NetworkPolicy', name, namespace }))['spec'];
    };

    test('dnsManipulation allows egress to the DNS server of the cluster and to nothing else', async () => {
      expect(await specOf(`${prefix}network`, `${prefix}dns`)).toEqual({
        podSelector: {},
        policyTypes: ['Egress'],
        egress: [toResolver],
      });
    });

    test('denyExternalNetworkAccess allows the private ranges on all ports, and DNS', async () => {
      const peers = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((cidr) => ({ ipBlock: { cidr } }));
      expect(await specOf(`${prefix}network`, `${prefix}inside`)).toEqual({
        podSelector: {},
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ from: peers }],
        egress: [{ to: peers }, toResolver],
      });
    });

    test('another intent has ranges of its own, for the Pods of its binding', async () => {
      const peers = [{ ipBlock: { cidr: '10.96.0.0/12' } }];
      expect(await specOf(`${prefix}selected`, `${prefix}ranges`)).toEqual({
        podSelector: app,
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ from: peers }],
        egress: [{ to: peers }, toResolver],
      });
    });
  });

  describe('unAuthorizedSaTokenAccess', () => {
    test('Pods get no token of the ServiceAccount default, in old and new namespaces, until the binding is deleted', async () => {
      const [old, young] = [`${prefix}token-old`, `${prefix}token-new`];
      const isMounted = async (namespace: string): Promise<boolean | undefined> => {
        const account = await stage.get({ kind: 'ServiceAccount', name: 'default', namespace });
        return account?.['automountServiceAccountToken'] as boolean | undefined;
      };
      const volumesIn = async (namespace: string): Promise<unknown> => {
        const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
        const { spec } = (await stage.cluster.admin.mustSend('POST', path, pod(namespace, 'tried'))) as {
          readonly spec: { readonly volumes?: unknown };
        };
        return spec.volumes;
      };
      await createNamespaces(old);
      expect(await volumesIn(old)).toHaveLength(1);
      await stage.apply(
        intent(`${prefix}token`, 'unAuthorizedSaTokenAccess'),
        clusterBinding(`${prefix}token`, [`${prefix}token-*`], [`${prefix}token`]),
      );
      await createNamespaces(young);
      for (const namespace of [old, young]) {
        await inTime(() => isMounted(namespace)).toBe(false);
        // The API server reads the ServiceAccount from a watch.
        await inTime(() => volumesIn(namespace)).toBeUndefined();
      }
      await stage.remove(bindingNamed(`${prefix}token`));
      for (const namespace of [old, young]) expect(await isMounted(namespace)).toBeUndefined();
    });
  });

  describe('texts of params', () => {
    test('a param is a text for Reeve, and never a template', async () => {
      // eslint-disable-next-line no-template-curly-in-string
      const ranges = ['${namespaceObject.metadata.name}/8'];
      const { stderr } = await stage.tryApply([
        intent(`${prefix}template`, 'denyExternalNetworkAccess', { params: { ranges } }),
      ]);
      expect(stderr).toContain('spec.params.ranges[0]');
    });
  });

  describe('what an author gets wrong', () => {
    const refusals: readonly (readonly [string, object, readonly (string | RegExp)[]])[] = [
      [
        'an unknown id',
        intent(`${prefix}wrong`, 'escapeToHosts'),
        ['spec.id', /did you mean .*escapeToHost/i],
      ],
      [
        'an unknown param',
        intent(`${prefix}wrong`, 'escapeToHost', { params: { psalevel: 'restricted' } }),
        ['spec.params', /did you mean .*psaLevel/i],
      ],
      [
        'a param of another id, and an unknown param, both at once',
        intent(`${prefix}wrong`, 'escapeToHost', { params: { level: 'a', ranges: ['10.0.0.0/8'] } }),
        ['spec.params.level', 'spec.params.ranges'],
      ],
      [
        'an expression that no label selector can say',
        clusterBinding(`${prefix}wrong`, ['a'], ['b'], {
          workloads: { cel: ['labels["app"].startsWith("web")'] },
        }),
        ['spec.workloads.cel[0]', 'startsWith'],
      ],
    ];
    test.each(refusals)('%s is refused by kubectl apply, with the way out', async (_, object, words) => {
      const { code, stderr } = await stage.tryApply([object as never]);
      expect(code).toBe(1);
      for (const word of words) expect(stderr).toMatch(word);
    });
  });
});
