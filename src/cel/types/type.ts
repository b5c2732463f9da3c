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
} from '../values/value.ts';
import type { MetadataField } from '../../base/metadata.ts';
import type { AnyMap } from '../values/map.ts';
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
