// Defines the static types of the checker, and which values each type accepts at run time.
import {
  type Uint,
  type Double,
  type ValueKind,
  type TypeValue,
  type Value,
  adapt,
  kindOf,
  type Optional,
  type AnyMap,
  isMap,
} from '../values/value.ts';
import type { MetadataField } from '../../base/metadata.ts';
import type { Duration, Timestamp } from '../values/time.ts';

/** Objects with fixed fields. At run time they are maps. */
export type ObjectKind =
  | 'kubernetes.AdmissionRequest'
  | 'kubernetes.GroupVersionKind'
  | 'kubernetes.GroupVersionResource'
  | 'kubernetes.Namespace'
  | 'kubernetes.NamespaceCondition'
  | 'kubernetes.NamespaceMetadata'
  | 'kubernetes.NamespaceSpec'
  | 'kubernetes.NamespaceStatus'
  | 'kubernetes.OwnerReference'
  | 'kubernetes.UserInfo'
  | 'variables.cluster'
  | 'kubernetes.variables';

/** `V` is the type of the values in TypeScript. It exists at compile time only. */
export interface Type<out V = Value> {
  readonly kind: ValueKind | ObjectKind | 'dyn' | 'param';
  /** The element types. */
  readonly params: readonly Type[];
  readonly name?: string;
  /** The fields of an object type. */
  readonly fields?: Readonly<Record<string, Type>>;
  /** Set for the labels and the annotations of `namespaceObject`. */
  readonly metadata?: MetadataField;
  accepts(value: Value): boolean;
  readonly shape?: V;
}

export function typeOfKind<V>(kind: ValueKind, params: readonly Type[] = []): Type<V> {
  return { kind, params, accepts: (value) => kindOf(value) === kind };
}

export const BOOL: Type<boolean> = {
  kind: 'bool',
  params: [],
  accepts: (value) => typeof value === 'boolean',
};
export const INT: Type<bigint> = { kind: 'int', params: [], accepts: (value) => typeof value === 'bigint' };
export const STRING: Type<string> = {
  kind: 'string',
  params: [],
  accepts: (value) => typeof value === 'string',
};
export const DYN: Type = { kind: 'dyn', params: [], accepts: () => true };
export const UINT = typeOfKind<Uint>('uint');
export const DOUBLE = typeOfKind<Double>('double');
export const BYTES = typeOfKind<Uint8Array>('bytes');
export const NULL = typeOfKind<null>('null_type');
export const TIMESTAMP = typeOfKind<Timestamp>('google.protobuf.Timestamp');
export const DURATION = typeOfKind<Duration>('google.protobuf.Duration');

/** At run time, the first element chooses the overload, as in cel-go. */
export function listType(element: Type): Type<readonly unknown[]> {
  return {
    kind: 'list',
    params: [element],
    accepts: (value) => Array.isArray(value) && (value.length === 0 || element.accepts(adapt(value[0]))),
  };
}

export function mapType(key: Type, value: Type): Type<AnyMap> {
  return typeOfKind<AnyMap>('map', [key, value]);
}

export function optionalType(held: Type): Type<Optional> {
  return typeOfKind<Optional>('optional_type', [held]);
}

export function typeType(instance: Type): Type<TypeValue> {
  return typeOfKind<TypeValue>('type', [instance]);
}

export function typeParameter(name: string): Type {
  return { kind: 'param', params: [], name, accepts: () => true };
}

/** Returns the type as messages of Kubernetes write it. */
export function typeText(type: Type): string {
  if (type.kind === 'param') return 'dyn';
  return type.params.length === 0 ? type.kind : `${type.kind}(${type.params.map(typeText).join(', ')})`;
}

export function areSameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false;
  return a.params.every((param, index) => areSameType(param, b.params[index] ?? DYN));
}

export const COMPARABLE: readonly Type[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];

// Defines the types of objects with fixed fields: `request` and `namespaceObject`. At run time such objects are maps.
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/cel#BuildRequestType
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/cel#BuildNamespaceType

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
