// Lists the built-in kinds that the sandbox does not store. Discovery names them, and a request for their objects gets 501.
// https://kubernetes.io/docs/reference/kubernetes-api/
import type { Verb, Resource } from '../resource.ts';

type Names = 'group' | 'version' | 'kind' | 'plural' | 'singular' | 'shortNames' | 'categories';

export interface UnstoredKind extends Pick<Resource, Names | 'isNamespaced'> {
  readonly subresources: readonly string[];
  /** Undefined: all verbs. */
  readonly verbs: readonly Verb[] | undefined;
}

/** One text for each kind: the kind, its short names, its category after `+`, its subresources after `/`. */
type Table = Readonly<Record<string, readonly string[]>>;

const namespaced: Table = {
  v1: [
    'Binding',
    'Endpoints ep',
    'PersistentVolumeClaim pvc /status',
    'Pod po +all /attach /binding /ephemeralcontainers /eviction /exec /log /portforward /proxy /resize /status',
    'PodTemplate',
    'ReplicationController rc +all /scale /status',
    'Service svc +all /proxy /status',
  ],
  'apps/v1': [
    'ControllerRevision',
    'DaemonSet ds +all /status',
    'Deployment deploy +all /scale /status',
    'ReplicaSet rs +all /scale /status',
    'StatefulSet sts +all /scale /status',
  ],
  // The first version of a group is the preferred one.
  'autoscaling/v2': ['HorizontalPodAutoscaler hpa +all /status'],
  'autoscaling/v1': ['HorizontalPodAutoscaler hpa +all /status'],
  'batch/v1': ['CronJob cj +all /status'],
  'discovery.k8s.io/v1': ['EndpointSlice'],
  'networking.k8s.io/v1': ['Ingress ing /status'],
  'policy/v1': ['PodDisruptionBudget pdb /status'],
  'resource.k8s.io/v1': ['ResourceClaim /status', 'ResourceClaimTemplate'],
  'storage.k8s.io/v1': ['CSIStorageCapacity'],
};

const clusterScoped: Table = {
  v1: ['ComponentStatus cs', 'Node no /proxy /status', 'PersistentVolume pv /status'],
  'admissionregistration.k8s.io/v1': [
    'MutatingAdmissionPolicy +api-extensions',
    'MutatingAdmissionPolicyBinding +api-extensions',
  ],
  'apiregistration.k8s.io/v1': ['APIService +api-extensions /status'],
  'certificates.k8s.io/v1': ['CertificateSigningRequest csr /approval /status'],
  'flowcontrol.apiserver.k8s.io/v1': ['FlowSchema /status', 'PriorityLevelConfiguration /status'],
  'networking.k8s.io/v1': ['IngressClass', 'IPAddress ip', 'ServiceCIDR /status'],
  'node.k8s.io/v1': ['RuntimeClass'],
  'resource.k8s.io/v1': ['DeviceClass', 'ResourceSlice'],
  'scheduling.k8s.io/v1': ['PriorityClass pc'],
  'storage.k8s.io/v1': [
    'CSIDriver',
    'CSINode',
    'StorageClass sc',
    'VolumeAttachment /status',
    'VolumeAttributesClass vac',
  ],
};

const fewVerbs = new Map<string, readonly Verb[]>([
  ['Binding', ['create']],
  ['ComponentStatus', ['get', 'list']],
]);

export const unstoredKinds: readonly UnstoredKind[] = [
  ...kindsOf(namespaced, true),
  ...kindsOf(clusterScoped, false),
];

function kindsOf(table: Table, isNamespaced: boolean): readonly UnstoredKind[] {
  return Object.entries(table).flatMap(([apiVersion, kinds]) => {
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    return kinds.map((text) => ({ group, version, isNamespaced, ...described(text) }));
  });
}

function described(text: string): Omit<UnstoredKind, 'group' | 'version' | 'isNamespaced'> {
  const [kind = '', ...words] = text.split(' ');
  const after = (mark: string): readonly string[] =>
    words.filter((word) => word.startsWith(mark)).map((word) => word.slice(1));
  const singular = kind.toLowerCase();
  return {
    kind,
    singular,
    plural: pluralOf(singular),
    shortNames: words.filter((word) => !/^[+/]/.test(word)),
    categories: after('+'),
    subresources: after('/'),
    verbs: fewVerbs.get(kind),
  };
}

function pluralOf(singular: string): string {
  if (singular === 'endpoints') return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
