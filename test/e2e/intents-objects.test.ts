// What intents give of Kubernetes' own kinds is accepted by a real API server. An expression for Kyverno judges Pods as it should.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { Intent } from '../../src/policy/intents/adapter.ts';
import { kyvernoAdapter } from '../../src/policy/intents/adapters/kyverno.ts';
import { groupKind } from '../../src/base/object-type.ts';
import { removeWebhooks } from '../cluster/reeve-install.ts';
import { intentOf, intentRenderings, rendered, targetOf } from '../support/intent-cases.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';

const ofEngines = new Set(['kyverno.io/Policy', 'security.kubearmor.com/KubeArmorPolicy']);
const ownObjects = intentRenderings.flatMap(({ title, rendering: { resources = [] } }) =>
  resources
    .filter((object) => !ofEngines.has(groupKind(object)))
    .map((object) => ({ title, kind: object.kind, object })),
);

describeControllers('the objects of intents', () => {
  const cluster = sharedCluster();
  const { kubeconfig } = cluster;
  const namespaces = ['intent-objects', 'intent-restricted', 'intent-tokens'];

  beforeAll(async () => {
    await removeWebhooks(cluster);
    for (const namespace of namespaces) {
      await mustKubectl(['create', 'namespace', namespace], cluster);
      await until(
        async () =>
          (await kubectl(['get', 'serviceaccount', 'default', '-n', namespace], cluster)).code === 0,
        () => `${namespace} has its ServiceAccount`,
      );
    }
  });
  afterAll(async () => {
    await mustKubectl(['delete', 'namespace', ...namespaces, '--wait=false', '--ignore-not-found'], cluster);
  });

  const create = async (namespace: string, object: unknown): Promise<string> => {
    const args = ['create', '-n', namespace, '--dry-run=server', '--validate=strict', '-o=name', '-f', '-'];
    const { stdout, stderr } = await kubectl(args, { kubeconfig, input: JSON.stringify(object) });
    return stderr === '' ? stdout.trim().replace(/\/.*/, '') : stderr;
  };

  test.each(ownObjects)(
    'the API server accepts the $kind of $title without a warning',
    async ({ kind, object }) => {
      const created = await create('intent-objects', object);
      expect(created.replace(/\..*/, '')).toBe(kind.toLowerCase());
    },
  );

  test('the Pod of a scan may run where Pod Security enforces the level restricted', async () => {
    const label = 'pod-security.kubernetes.io/enforce=restricted';
    await mustKubectl(['label', 'namespace', 'intent-restricted', label], cluster);
    const { 'tls-scan': rendering } = rendered('assessTLS', {
      title: '',
      spec: { params: { externalAddresses: ['shop.example.com:443'] } },
    });
    const [cronJob] = typeof rendering === 'object' ? (rendering.resources ?? []) : [];
    if (cronJob === undefined) throw new Error('the adapter gives no CronJob');
    const { jobTemplate } = cronJob['spec'] as { jobTemplate: { spec: { template: JsonObject } } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'scan' }, ...jobTemplate.spec.template };
    expect(await create('intent-restricted', pod)).toBe('pod');
    expect(
      await create('intent-restricted', { ...pod, spec: { containers: [{ name: 'a', image: 'a' }] } }),
    ).toMatch(/violates PodSecurity "restricted/);
  });

  describe('the expression for Kyverno about tokens', () => {
    const policy = 'reeve-test-intent-tokens';
    const audienced = {
      name: 'vault',
      projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault' } }] },
    };
    const podWith = (spec: JsonObject): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'tried' },
      spec: { containers: [{ name: 'main', image: 'main' }], ...spec },
    });
    const refused = /the Pod must not get a token for the API server/;

    beforeAll(async () => {
      const input = JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [...admissionPolicy(policy, 'intent-tokens'), serviceAccount('silent')],
      });
      await mustKubectl(['apply', '-f', '-'], { kubeconfig, input });
      await until(
        async () => refused.test(await create('intent-tokens', podWith({}))),
        () => 'the expression judges Pods',
      );
    });
    afterAll(async () => {
      const kinds = 'validatingadmissionpolicy,validatingadmissionpolicybinding';
      await mustKubectl(['delete', kinds, policy], cluster);
    });

    test.each([
      ['opts out', { automountServiceAccountToken: false }],
      ['has a ServiceAccount that opts out', { serviceAccountName: 'silent' }],
      ['has a token for another audience', { automountServiceAccountToken: false, volumes: [audienced] }],
    ])('a Pod that %s is allowed', async (_, spec) => {
      expect(await create('intent-tokens', podWith(spec))).toBe('pod');
    });

    test.each([
      ['gets the token of its ServiceAccount', {}],
      [
        'asks for a token, although its ServiceAccount opts out',
        { serviceAccountName: 'silent', automountServiceAccountToken: true },
      ],
      [
        'opts out, and mounts a token by itself',
        {
          automountServiceAccountToken: false,
          volumes: [{ name: 'own', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
        },
      ],
    ])('a Pod that %s is refused', async (_, spec) => {
      expect(await create('intent-tokens', podWith(spec))).toMatch(refused);
    });
  });
});

function serviceAccount(name: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: 'intent-tokens' },
    automountServiceAccountToken: false,
  };
}

/** Kubernetes judges Pods with the expressions of the rule that Kyverno gets. */
function admissionPolicy(name: string, namespace: string): readonly JsonObject[] {
  const intent: Intent = intentOf('unAuthorizedSaTokenAccess');
  const target = targetOf({ title: '', workloads: { matchLabels: { app: 'shop' } } });
  const [policy] = kyvernoAdapter.render(intent, target).resources ?? [];
  if (policy === undefined) throw new Error('the adapter gives no Policy');
  const spec = policy['spec'] as { rules: { validate: { cel: { expressions: JsonObject[] } } }[] };
  const [rule] = spec.rules;
  const group = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } };
  return [
    {
      ...group,
      kind: 'ValidatingAdmissionPolicy',
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
          ],
        },
        validations: rule?.validate.cel.expressions,
      },
    },
    {
      ...group,
      kind: 'ValidatingAdmissionPolicyBinding',
      spec: {
        policyName: name,
        validationActions: ['Deny'],
        matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
      },
    },
  ];
}
