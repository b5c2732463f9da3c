// Defines the types of objects with fixed fields: `request` and `namespaceObject`. At run time such objects are maps.
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/cel#BuildRequestType
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/cel#BuildNamespaceType
import { isMap } from '../values/map.ts';
import { type ObjectKind, type Type, BOOL, DYN, INT, listType, mapType, STRING } from './type.ts';

export function objectType(kind: ObjectKind, fields: Readonly<Record<string, Type>>): Type {
  return { kind, params: [], fields, accepts: isMap };
}

/** Returns undefined when the type has no such field, or no fields at all. */
export function typeOfObjectField({ fields }: Type, field: string): Type | undefined {
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
}

const kind = objectType('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const resource = objectType('kubernetes.GroupVersionResource', {
  group: STRING,
  version: STRING,
  resource: STRING,
});
const userInfo = objectType('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listType(STRING),
  extra: mapType(STRING, listType(STRING)),
});

export const REQUEST = objectType('kubernetes.AdmissionRequest', {
  kind,
  resource,
  subResource: STRING,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo,
  dryRun: BOOL,
  options: DYN,
});

const TEXTS = listType(STRING);
const condition = objectType('kubernetes.NamespaceCondition', {
  type: STRING,
  status: STRING,
  reason: STRING,
  message: STRING,
  lastTransitionTime: STRING,
});
const ownerReference = objectType('kubernetes.OwnerReference', {
  apiVersion: STRING,
  kind: STRING,
  name: STRING,
  uid: STRING,
  controller: BOOL,
  blockOwnerDeletion: BOOL,
});

/** Times are text, as in the object. Kubernetes types them as timestamps but gives text, so every use of them fails there. */
const namespaceMetadata = objectType('kubernetes.NamespaceMetadata', {
  name: STRING,
  generateName: STRING,
  labels: { ...mapType(STRING, STRING), metadata: 'labels' },
  annotations: { ...mapType(STRING, STRING), metadata: 'annotations' },
  uid: STRING,
  creationTimestamp: STRING,
  deletionTimestamp: STRING,
  deletionGracePeriodSeconds: INT,
  generation: INT,
  resourceVersion: STRING,
  finalizers: TEXTS,
  ownerReferences: listType(ownerReference),
});

export const NAMESPACE = objectType('kubernetes.Namespace', {
  metadata: namespaceMetadata,
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: TEXTS }),
  status: objectType('kubernetes.NamespaceStatus', { phase: STRING, conditions: listType(condition) }),
});
