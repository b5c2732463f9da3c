// Tests the rules of kinds. The causes were compared with those of a Kubernetes 1.36 API server.
import { expect, test } from 'vitest';
import { causesOf, kindNamed, prepared } from './served.ts';

const roleRef = { kind: 'Role', name: 'a' };
const rule = { apiGroups: [''], apiVersions: ['*'], resources: ['pods'], operations: ['CREATE'] };
const webhook = {
  name: 'a.b.c',
  clientConfig: { service: { namespace: 'a', name: 'b' } },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const { sideEffects: _, ...careless } = webhook;
const user = { kind: 'User', name: 'u' };

test.for([
  [
    'Secret',
    { type: 'kubernetes.io/tls', data: { a: '' } },
    ['Required data[tls.crt]', 'Required data[tls.key]'],
  ],
  ['Secret', { data: { '..x': '', '.': '', 'a.b': '' } }, ['Invalid data[..x]', 'Invalid data[.]']],
  ['Secret', { data: { a: '!!' } }, ['Invalid data[a]']],
  ['Secret', { data: { a: 5 } }, ['TypeInvalid data[a]']],
  ['Secret', { stringData: { a: 'x'.repeat(1_048_577) } }, ['Invalid data']],
  ['Secret', { type: 'kubernetes.io/dockerconfigjson' }, ['Required data[.dockerconfigjson]']],
  [
    'Secret',
    { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{' } },
    ['Invalid data[.dockerconfigjson]'],
  ],
  ['Secret', { type: 'kubernetes.io/basic-auth' }, ['Required data[username]', 'Required data[password]']],
  ['Secret', { type: 'kubernetes.io/basic-auth', stringData: { username: 'u' } }, []],
  ['Secret', { type: 'kubernetes.io/ssh-auth' }, ['Required data[ssh-privatekey]']],
  [
    'Secret',
    { type: 'kubernetes.io/service-account-token' },
    ['Required metadata.annotations[kubernetes.io/service-account.name]'],
  ],
  ['ConfigMap', { data: { q: '' }, binaryData: { q: '' } }, ['Invalid data[q]']],
  ['RoleBinding', {}, ['Required roleRef']],
  ['RoleBinding', { roleRef: { kind: 'Role', name: '' } }, ['Invalid roleRef.name']],
  ['RoleBinding', { roleRef: { ...roleRef, apiGroup: 'x' } }, ['NotSupported roleRef.apiGroup']],
  [
    'RoleBinding',
    { roleRef, subjects: [{ kind: 'Foo', name: 'x' }, { kind: 'User' }] },
    ['NotSupported subjects[0].kind', 'Required subjects[1].name'],
  ],
  ['RoleBinding', { roleRef, subjects: [{ ...user, apiGroup: 'x' }] }, ['NotSupported subjects[0].apiGroup']],
  ['RoleBinding', { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'x' }] }, []],
  ['ClusterRoleBinding', { roleRef }, ['NotSupported roleRef.kind']],
  [
    'ClusterRoleBinding',
    { roleRef: { ...roleRef, kind: 'ClusterRole' }, subjects: [{ kind: 'ServiceAccount', name: 'x' }] },
    ['Required subjects[0].namespace'],
  ],
  [
    'Role',
    { rules: [{}, { verbs: ['get'], apiGroups: [''] }] },
    ['Required rules[0].verbs', 'Required rules[1].resources'],
  ],
  ['Role', { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }, ['Invalid rules[0].nonResourceURLs']],
  ['ClusterRole', { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }, []],
  [
    'ClusterRole',
    { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['a'] }] },
    ['Invalid rules[0].nonResourceURLs'],
  ],
  ['NetworkPolicy', { spec: { policyTypes: ['X'] } }, ['NotSupported spec.policyTypes[0]']],
  ['Lease', { spec: { leaseDurationSeconds: 0 } }, ['Invalid spec.leaseDurationSeconds']],
  ['ValidatingWebhookConfiguration', { webhooks: [webhook] }, []],
  ['ValidatingWebhookConfiguration', { webhooks: [webhook, webhook] }, ['Invalid webhooks[1].name']],
  ['ValidatingWebhookConfiguration', { webhooks: [careless] }, ['Required webhooks[0].sideEffects']],
  [
    'ValidatingWebhookConfiguration',
    { webhooks: [{ ...webhook, timeoutSeconds: 31, failurePolicy: 'Foo' }] },
    ['NotSupported webhooks[0].failurePolicy', 'Invalid webhooks[0].timeoutSeconds'],
  ],
  [
    'ValidatingWebhookConfiguration',
    { webhooks: [{ ...webhook, rules: [{ ...rule, operations: [] }] }] },
    ['Invalid webhooks[0].rules[0].operations'],
  ],
  [
    'ValidatingWebhookConfiguration',
    { webhooks: [{ ...webhook, clientConfig: {} }] },
    ['Invalid webhooks[0].clientConfig'],
  ],
  [
    'ValidatingWebhookConfiguration',
    { webhooks: [{ ...webhook, clientConfig: { url: 'http://x' } }] },
    ['Invalid webhooks[0].clientConfig.url'],
  ],
  [
    'ValidatingWebhookConfiguration',
    { webhooks: [{ ...webhook, matchConditions: [{ name: 'a b', expression: '' }] }] },
    ['Invalid webhooks[0].matchConditions[0].name', 'Invalid webhooks[0].matchConditions[0].expression'],
  ],
  [
    'MutatingWebhookConfiguration',
    { webhooks: [{ ...webhook, reinvocationPolicy: 'X' }] },
    ['NotSupported webhooks[0].reinvocationPolicy'],
  ],
  [
    'ValidatingAdmissionPolicy',
    { spec: { validations: [{}] } },
    ['Required spec.matchConstraints', 'Required spec.validations[0].expression'],
  ],
  [
    'ValidatingAdmissionPolicyBinding',
    { spec: {} },
    ['Required spec.policyName', 'Required spec.validationActions'],
  ],
] as const)('the causes of a %s %j are %j', ([kind, object, causes]) => {
  expect(causesOf(kind, { metadata: { name: 'a' }, ...object })).toStrictEqual(causes);
});

const frozen = { immutable: true, data: { a: 'YQ==' } };

test.for([
  ['Secret', frozen, { ...frozen, metadata: { name: 'a', labels: { a: 'b' } } }, []],
  ['Secret', frozen, { stringData: { a: 'b' } }, ['Forbidden immutable', 'Forbidden data']],
  ['Secret', { type: 'foo' }, {}, ['Invalid type']],
  ['ConfigMap', { immutable: true }, { immutable: true, binaryData: { a: '' } }, ['Forbidden binaryData']],
  ['RoleBinding', { roleRef }, { roleRef }, []],
  ['RoleBinding', { roleRef }, { roleRef: { ...roleRef, name: 'b' } }, ['Invalid roleRef']],
] as const)('the causes of a %s that changes from %j to %j are %j', ([kind, before, after, causes]) => {
  expect(causesOf(kind, after, before)).toStrictEqual(causes);
});

test.for([
  [
    'Secret',
    { data: { a: 'c2\nVj', b: 'Yg==' }, stringData: { b: 'hidden' } },
    { type: 'Opaque', data: { a: 'c2Vj', b: 'aGlkZGVu' } },
  ],
  [
    'Secret',
    { stringData: JSON.parse('{"__proto__": "a"}') as object },
    { type: 'Opaque', data: JSON.parse('{"__proto__": "YQ=="}') as object },
  ],
  [
    'RoleBinding',
    { roleRef, subjects: [user] },
    {
      roleRef: { ...roleRef, apiGroup: 'rbac.authorization.k8s.io' },
      subjects: [{ ...user, apiGroup: 'rbac.authorization.k8s.io' }],
    },
  ],
  [
    'NetworkPolicy',
    { spec: { egress: [{}] } },
    {
      metadata: { name: 'a', generation: 1 },
      spec: { podSelector: {}, egress: [{}], policyTypes: ['Ingress', 'Egress'] },
    },
  ],
  [
    'LimitRange',
    { spec: { limits: [{ type: 'Pod', max: { cpu: 1 } }] } },
    { spec: { limits: [{ type: 'Pod', max: { cpu: 1 } }] } },
  ],
] as const)('%s %j is stored as %j', ([kind, object, stored]) => {
  expect(prepared(kind, object)).toStrictEqual({ metadata: { name: 'a' }, ...stored });
});

test('a new Namespace has its finalizer, its phase and the label with its name', () => {
  const metadata = { name: 'abc', labels: { 'kubernetes.io/metadata.name': 'x', a: 'b' } };
  const created = prepared('Namespace', { metadata, spec: { finalizers: ['a.io/b'] } });
  expect(created).toStrictEqual({
    metadata: { name: 'abc', labels: { 'kubernetes.io/metadata.name': 'abc', a: 'b' } },
    spec: { finalizers: ['a.io/b', 'kubernetes'] },
    status: { phase: 'Active' },
  });
  const finalized = { ...created, spec: {}, metadata };
  expect(prepared('Namespace', finalized, created)).toStrictEqual({ ...created, spec: {} });
});

test('a webhook gets the defaults of the API server', () => {
  const object = { webhooks: [{ ...webhook, rules: [rule] }] };
  expect(prepared('MutatingWebhookConfiguration', object)['webhooks']).toStrictEqual([
    {
      ...webhook,
      clientConfig: { service: { namespace: 'a', name: 'b', port: 443 } },
      rules: [{ ...rule, scope: '*' }],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      reinvocationPolicy: 'Never',
    },
  ]);
});

test('the data of a Secret is never quoted', () => {
  const object = { data: { a: 'hunter2', b: 7 }, stringData: { c: 8, '.dockerconfigjson': 'hunter2' } };
  for (const data of [
    object,
    { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'hunter2' } },
    { data: { a: 'hunter2' } },
  ]) {
    const problems = kindNamed('Secret').rules.problems(prepared('Secret', data), undefined);
    expect(problems).not.toStrictEqual([]);
    expect(JSON.stringify(problems)).not.toMatch(/hunter2|aHVudGVyMg|7|8/);
  }
});

test('the generation counts changes outside of metadata and status', () => {
  const first = prepared('Lease', { spec: {} });
  expect(first.metadata['generation']).toBeUndefined();
  const policy = prepared('NetworkPolicy', { spec: {} });
  const labelled = prepared(
    'NetworkPolicy',
    { metadata: { name: 'a', labels: { a: 'b' } }, spec: {} },
    policy,
  );
  expect(labelled.metadata['generation']).toBe(1);
  const changed = prepared('NetworkPolicy', { spec: { ingress: [] } }, labelled);
  expect(changed.metadata['generation']).toBe(2);
  const metadata = { ...changed.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' };
  expect(prepared('NetworkPolicy', { ...changed, metadata }, changed).metadata['generation']).toBe(3);
});
