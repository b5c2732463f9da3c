// Kinds that no policy may put into a namespace.
import { group } from '../names.ts';

/** Groups of which no kind is for `contents.resources`: they hand out rights, configure the cluster or store nothing. */
export const forbiddenGroups: readonly string[] = [
  group,
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'node.k8s.io',
  'storagemigration.k8s.io',
];

/**
 * As group/Kind. Secrets go by SecretShare; the main resource or the labels of some kinds are written by other
 * controllers; the rest is cluster-scoped in Kubernetes 1.36.
 */
export const forbiddenKinds: readonly string[] = [
  '/Secret',
  '/PersistentVolumeClaim',
  '/Service',
  '/Endpoints',
  '/ComponentStatus',
  '/Namespace',
  '/Node',
  '/PersistentVolume',
  'certificates.k8s.io/CertificateSigningRequest',
  'certificates.k8s.io/ClusterTrustBundle',
  'networking.k8s.io/IPAddress',
  'networking.k8s.io/IngressClass',
  'networking.k8s.io/ServiceCIDR',
  'resource.k8s.io/DeviceClass',
  'resource.k8s.io/DeviceTaintRule',
  'resource.k8s.io/ResourceSlice',
  'scheduling.k8s.io/PriorityClass',
  'storage.k8s.io/CSIDriver',
  'storage.k8s.io/CSINode',
  'storage.k8s.io/StorageClass',
  'storage.k8s.io/VolumeAttachment',
  'storage.k8s.io/VolumeAttributesClass',
];
