// The objects of the measurements on control planes: what people write, what Reeve provides, and the same for a raw loop.
import type { KubeObject } from '../../../src/base/metadata.ts';
import type { Call } from '../../soak/api-calls.ts';

/** The namespaces with contents. */
export const prefix = 'ns-';
export const sourceNamespace = 'reeve-shared';
/** The name of the RoleBinding and of the Secret in each namespace. */
export const contentName = 'bench';
/** Label of the first namespaces, which receive the Secrets of the fan-out. */
const fanOutLabel = 'fan-out';

const apiVersion = 'reeve.dev/v1alpha1';
const rbacGroup = 'rbac.authorization.k8s.io';
const applyQuery = 'fieldManager=bench&force=true';

export interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

export function namespaceOf(name: string, labels: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

/** So many namespaces receive each Secret of the fan-out. */
export const fanOutCount = 1000;
const inFanOut = { [fanOutLabel]: 'yes' };

/** Returns the namespace with that number, which gets contents. */
export function namespaceWithContents(index: number): KubeObject {
  return namespaceOf(`${prefix}${index}`, index < fanOutCount ? inFanOut : {});
}

/** The rules of the measurement of creates, without contents, so that the webhook alone has work. */
export const rulesPolicy = {
  apiVersion,
  kind: 'NamespacePolicy',
  metadata: { name: 'bench-rules' },
  spec: {
    match: { names: ['hook-*'] },
    namespaces: {
      required: { labels: { team: { pattern: '^[a-z0-9]+$' }, env: { values: ['dev', 'prod'] } } },
    },
    validations: [{ name: 'short', expression: 'object.metadata.name.size() <= 40' }],
  },
};

export const contentsPolicy = {
  apiVersion,
  kind: 'NamespacePolicy',
  metadata: { name: 'bench-contents' },
  spec: {
    match: { names: [`${prefix}*`] },
    contents: {
      roleBindings: [
        {
          name: contentName,
          roleRef: { kind: 'ClusterRole', name: 'view' },
          subjects: [{ kind: 'Group', name: 'team-${namespaceObject.metadata.name}' }],
        },
      ],
    },
  },
};

/** So many RoleBindings in each namespace of the fan-out stand for the items of a list. */
export const listLength = 10;

export function namesOfList(name: string): readonly string[] {
  return Array.from({ length: listLength }, (_, index) => `${name}-yes-${index}`);
}

/** A policy with a list that reads a label, so that each namespace has its own. */
export function listPolicy(name: string): object {
  const items = JSON.stringify(Array.from({ length: listLength }, (_, index) => String(index)));
  const spec = {
    match: { namespaceSelector: { matchLabels: inFanOut } },
    maxDeletions: 1_000_000,
    contents: {
      roleBindings: [
        {
          name: `${name}-\${item}`,
          forEach: `${items}.map(i, namespaceObject.metadata.labels['${fanOutLabel}'] + '-' + i)`,
          roleRef: { kind: 'ClusterRole', name: 'view' },
          subjects: [{ kind: 'Group', name: 'team-${item}' }],
        },
      ],
    },
  };
  return { apiVersion, kind: 'NamespacePolicy', metadata: { name }, spec };
}

export function shareOf(name: string, targets: object): object {
  const spec = { source: { namespace: sourceNamespace, name }, targets };
  return { apiVersion, kind: 'SecretShare', metadata: { name }, spec };
}

export const contentsShare = shareOf(contentName, { names: [`${prefix}*`] });

export function fanOutShare(name: string): object {
  return shareOf(name, { namespaceSelector: { matchLabels: inFanOut } });
}

/** As large as a common registry credential. `mark` makes the content differ. */
export function secretOf(namespace: string, name: string, mark = 'x'): KubeObject {
  const credentials = JSON.stringify({ auths: { r: { auth: mark.repeat(200).slice(0, 200) } } });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: { a: 'b' }, annotations: { c: 'd' } },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(credentials).toString('base64') },
  };
}

export function roleBindingOf(namespace: string, name: string): KubeObject {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace, labels: { a: 'b' }, annotations: { c: 'd' } },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: rbacGroup, kind: 'Group', name: `team-${namespace}` }],
  };
}

export function createNamespace(namespace: KubeObject): Call {
  return { method: 'POST', path: '/api/v1/namespaces', body: namespace };
}

/** The write with which Reeve creates and changes a Secret or RoleBinding: a server-side apply. */
export function applyOf(object: KubeObject): Call {
  const { namespace = '', name = '' } = object.metadata;
  const [root, plural] =
    object.kind === 'Secret' ? ['/api/v1', 'secrets'] : [`/apis/${rbacGroup}/v1`, 'rolebindings'];
  return {
    method: 'PATCH',
    path: `${root}/namespaces/${namespace}/${plural}/${name}?${applyQuery}`,
    body: object,
  };
}

const rules = [
  {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['namespaces'],
    scope: 'Cluster',
  },
];

/** Two webhooks for the namespaces with the label `hook: empty`. */
export function emptyHooks(port: number, authority: string): readonly (readonly [string, NamedObject])[] {
  return ['Mutating', 'Validating'].map((kind) => [
    `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`,
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: 'bench-empty' },
      webhooks: [
        {
          name: 'empty.bench.reeve.dev',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          rules,
          objectSelector: { matchLabels: { hook: 'empty' } },
          clientConfig: {
            service: { namespace: 'reeve-system', name: 'reeve-webhook', port },
            caBundle: Buffer.from(authority).toString('base64'),
          },
        },
      ],
    },
  ]);
}

/** The rules of `rulesPolicy` for the namespaces with the label `hook: in-tree`. */
export const inTreePolicy: readonly (readonly [string, NamedObject])[] = [
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'bench-in-tree' },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: rules,
          objectSelector: { matchLabels: { hook: 'in-tree' } },
        },
        validations: [
          { expression: "object.metadata.labels.?team.orValue('').matches('^[a-z0-9]+$')" },
          { expression: "object.metadata.labels.?env.orValue('') in ['dev', 'prod']" },
          { expression: 'object.metadata.name.size() <= 40' },
        ],
      },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'bench-in-tree' },
      spec: { policyName: 'bench-in-tree', validationActions: ['Deny'] },
    },
  ],
];
