// The objects that tests of contents and shares write and read, and their paths on the API server.

const places = {
  Namespace: '/api/v1/namespaces',
  ConfigMap: '/api/v1/configmaps',
  LimitRange: '/api/v1/limitranges',
  ResourceQuota: '/api/v1/resourcequotas',
  Pod: '/api/v1/pods',
  Secret: '/api/v1/secrets',
  ServiceAccount: '/api/v1/serviceaccounts',
  CronJob: '/apis/batch/v1/cronjobs',
  NetworkPolicy: '/apis/networking.k8s.io/v1/networkpolicies',
  Role: '/apis/rbac.authorization.k8s.io/v1/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  NamespacePolicy: '/apis/reeve.dev/v1alpha1/namespacepolicies',
  SecretShare: '/apis/reeve.dev/v1alpha1/secretshares',
  ConfigMapShare: '/apis/reeve.dev/v1alpha1/configmapshares',
  SecurityIntent: '/apis/reeve.dev/v1alpha1/securityintents',
  ClusterSecurityIntentBinding: '/apis/reeve.dev/v1alpha1/clustersecurityintentbindings',
  SecurityIntentBinding: '/apis/reeve.dev/v1alpha1/securityintentbindings',
  KubeArmorPolicy: '/apis/security.kubearmor.com/v1/kubearmorpolicies',
} as const;

export type Kind = keyof typeof places;

export interface Ref {
  readonly kind: Kind;
  readonly name: string;
  /** Set for namespaced kinds. */
  readonly namespace?: string;
}

type Texts = Readonly<Record<string, string>>;

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly ownerReferences?: readonly object[];
  readonly finalizers?: readonly string[];
}

export interface WrittenObject {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

export interface StoredObject extends WrittenObject {
  readonly metadata: Metadata & {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly matched?: number;
    readonly desired?: number;
    readonly synced?: number;
    readonly conflicts?: number;
    readonly failed?: number;
    readonly confirmationUsed?: string;
    readonly intents?: number;
    readonly boundIntents?: readonly string[];
    readonly rendered?: readonly Readonly<Record<'adapter' | 'intent' | 'kind' | 'name', string>>[];
    readonly unsupported?: readonly {
      readonly intent: string;
      readonly id: string;
      readonly adapters?: readonly string[];
      readonly message: string;
    }[];
    readonly violations?: number;
    readonly violationsByResource?: Readonly<Record<string, number>>;
    readonly topViolations?: readonly object[];
    readonly failures?: readonly {
      readonly namespace: string;
      readonly kind?: string;
      readonly name?: string;
      readonly reason: string;
      readonly message?: string;
    }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

export function pathOf({ kind, name, namespace }: Ref): string {
  const place = places[kind];
  if (namespace === undefined) return `${place}/${name}`;
  const end = place.lastIndexOf('/');
  return `${place.slice(0, end)}/namespaces/${namespace}${place.slice(end)}/${name}`;
}

export function namespaceObject(name: string, labels: Texts = {}): WrittenObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

export function policy(name: string, spec: object, annotations: Texts = {}): WrittenObject {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name, annotations }, spec };
}

export function share(name: string, spec: object, annotations: Texts = {}): WrittenObject {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecretShare', metadata: { name, annotations }, spec };
}

export function securityIntent(name: string, spec: object): WrittenObject {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'SecurityIntent', metadata: { name }, spec };
}

/** A binding in a namespace, or of the cluster. */
export function intentBinding({ name, namespace }: Omit<Ref, 'kind'>, spec: object): WrittenObject {
  const kind = namespace === undefined ? 'ClusterSecurityIntentBinding' : 'SecurityIntentBinding';
  const metadata = namespace === undefined ? { name } : { name, namespace };
  return { apiVersion: 'reeve.dev/v1alpha1', kind, metadata, spec };
}

export function intent(name: string, id: string, fields: object = {}): WrittenObject {
  return securityIntent(name, { id, ...fields });
}

type Names = readonly string[];

/** Returns a binding for the namespaces with these names. */
export function clusterBinding(
  name: string,
  names: Names,
  intents: Names,
  fields: object = {},
): WrittenObject {
  return intentBinding({ name }, { match: { names }, intents, ...fields });
}

export function namespacedBinding(
  namespace: string,
  name: string,
  intents: Names,
  fields: object = {},
): WrittenObject {
  return intentBinding({ name, namespace }, { intents, ...fields });
}

/** Returns a Pod that no node has to run: the API server judges it all the same. */
export function pod(namespace: string, name: string, securityContext: object = {}): WrittenObject {
  const containers = [{ name: 'main', image: 'registry.example/none', securityContext }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { containers } };
}

/** Returns a Secret that shares may copy. */
export function source(name: string, stringData: Texts): WrittenObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'reeve-shared' }, stringData };
}

/** Returns a ConfigMap as an item of `contents.resources`. */
export function configMap(name: string, data: Texts): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

/** Returns an item of `contents.roleBindings`. */
export function roleBinding(name: string, group: string, role = 'view'): object {
  return { name, roleRef: { kind: 'ClusterRole', name: role }, subjects: [{ kind: 'Group', name: group }] };
}
