// The objects that tests of the guard write: kinds that policies and shares provide, with and without the mark.

export const guardedKinds = ['secret', 'configmap', 'rolebinding'] as const;
export type GuardedKind = (typeof guardedKinds)[number];

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export const markLabel = 'app.kubernetes.io/managed-by';
export const owner = 'NamespacePolicy/guarded';
export const owned = { 'reeve.dev/owner': owner };
/** The labels that Reeve gives the objects of that owner. */
const ownedLabels = { [markLabel]: 'reeve', 'reeve.dev/namespacepolicy': 'guarded' };

const bodies = {
  secret: { apiVersion: 'v1', kind: 'Secret', stringData: { key: 'value' } },
  configmap: { apiVersion: 'v1', kind: 'ConfigMap', data: { key: 'value' } },
  rolebinding: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'readers' }],
  },
} as const;

export function collectionOf(kind: GuardedKind, namespace: string): string {
  const group = kind === 'rolebinding' ? '/apis/rbac.authorization.k8s.io/v1' : '/api/v1';
  return `${group}/namespaces/${namespace}/${kind}s`;
}

export function manifest(kind: GuardedKind, metadata: Metadata): string {
  return JSON.stringify({ ...bodies[kind], metadata });
}

/** Returns the object as Reeve writes it. */
export function markedManifest(kind: GuardedKind, metadata: Metadata): string {
  return manifest(kind, {
    ...metadata,
    labels: { ...metadata.labels, ...ownedLabels },
    annotations: owned,
  });
}

/** Returns an object of almost the maximum size: one long value, or very many short ones. */
export function largeManifest(kind: 'secret' | 'configmap', metadata: Metadata): string {
  const { apiVersion, kind: kindName } = bodies[kind];
  const many = Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, `value-${index}`] as const);
  const data: Readonly<Record<string, string>> =
    kind === 'secret' ? { key: Buffer.alloc(900_000, 'x').toString('base64') } : Object.fromEntries(many);
  const marked = { ...metadata, labels: ownedLabels, annotations: owned };
  return JSON.stringify({ apiVersion, kind: kindName, metadata: marked, data });
}
