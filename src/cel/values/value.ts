// Defines the values of CEL: plain JSON where possible, and a small class for every other type.
import { keyText, type MetadataField } from '../../base/metadata.ts';
import type { Meter } from './meter.ts';

/**
 * null, boolean, string, bigint (int), Uint8Array (bytes), arrays (list) and plain objects (map) stand for themselves,
 * everything else is Boxed. Inside arrays and plain objects a number is raw JSON: it goes through `adapt` when read.
 */
export type Value = unknown;

export type ValueKind =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'google.protobuf.Duration'
  | 'google.protobuf.Timestamp'
  | 'int'
  | 'kubernetes.NamedFormat'
  | 'kubernetes.Quantity'
  | 'kubernetes.Semver'
  | 'kubernetes.URL'
  | 'list'
  | 'map'
  | 'net.CIDR'
  | 'net.IP'
  | 'null_type'
  | 'optional_type'
  | 'string'
  | 'type'
  | 'uint';

export abstract class Boxed {
  abstract readonly kind: ValueKind;
  /** Returns true when it equals a value of the same kind. */
  abstract equals(other: this): boolean;
}

export class Uint extends Boxed {
  readonly kind = 'uint';
  readonly value: bigint;

  constructor(value: bigint) {
    super();
    this.value = value;
  }

  equals(other: this): boolean {
    return this.value === other.value;
  }
}

export class Double extends Boxed {
  readonly kind = 'double';
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }

  equals(other: this): boolean {
    return this.value === other.value;
  }
}

/** A type as a value: `type(object.x) == string`. */
export class TypeValue extends Boxed {
  readonly kind = 'type';
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  equals(other: this): boolean {
    return this.name === other.name;
  }
}

export const MAX_INT = 2n ** 63n - 1n;
export const MIN_INT = -(2n ** 63n);
export const MAX_UINT = 2n ** 64n - 1n;

/** JSON has one type of number. A whole number that fits is an int, as in Kubernetes; all others are doubles. */
export function adapt(raw: unknown): Value {
  return typeof raw === 'number' ? fromJsonNumber(raw) : raw;
}

function fromJsonNumber(raw: number): Value {
  return Number.isInteger(raw) && raw >= -(2 ** 63) && raw < 2 ** 63 ? BigInt(raw) : new Double(raw);
}

export function kindOf(value: Value): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    default:
      return kindOfObject(value);
  }
}

function kindOfObject(value: Value): ValueKind {
  if (value === null) return 'null_type';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Boxed) return value.kind;
  return value instanceof Uint8Array ? 'bytes' : 'map';
}

export class Optional extends Boxed {
  readonly kind = 'optional_type';
  /** Undefined for an empty optional. */
  readonly value: Value;

  constructor(value: Value) {
    super();
    this.value = value;
  }

  /** equality.ts compares optionals by their values. */
  equals(other: this): boolean {
    return this === other;
  }
}

export const NONE = new Optional(undefined);

// Defines the errors of an evaluation. As values, they can be absorbed by && and ||.

/** `missing`: the namespace lacks a label or annotation that the expression looks up. */
export type EvaluationErrorReason = 'missing' | 'failed' | 'budget';

/** The message may name parts of the expression and keys of labels and annotations, never values of the judged objects. */
export class EvaluationError {
  readonly reason: EvaluationErrorReason;
  readonly message: string;

  constructor(reason: EvaluationErrorReason, message: string) {
    this.reason = reason;
    this.message = message;
  }
}

export function evaluationError(message: string): EvaluationError {
  return new EvaluationError('failed', message);
}

export function noSuchKey(key: string): EvaluationError {
  return evaluationError(`no such key: ${key.slice(0, 60)}`);
}

export function missingMetadata(field: MetadataField, key: string): EvaluationError {
  return new EvaluationError('missing', `${keyText(field, key)} is missing`);
}

/** For a namespace without any labels or annotations. Looking up a key in this error gives `missingMetadata`. */
export const NO_METADATA: Readonly<Record<MetadataField, EvaluationError>> = {
  labels: evaluationError('the namespace has no labels'),
  annotations: evaluationError('the namespace has no annotations'),
};

export const NO_OVERLOAD = evaluationError(
  'no such overload: the operation does not exist for values of these types',
);
export const NOT_BOOL = evaluationError('no such overload: the value is not a bool');
export const OVER_BUDGET = new EvaluationError(
  'budget',
  'the expression needs more work than one evaluation may cost',
);

// Reads maps: plain JSON objects, by their own keys only, and maps that an expression creates.

type PlainObject = Readonly<Record<string, unknown>>;

/**
 * A map that an expression creates. 1 and 1u are different keys, but each finds the other when only that one exists.
 */
export class CelMap extends Boxed {
  readonly kind = 'map';
  readonly entries: ReadonlyMap<unknown, readonly [key: Value, value: Value]>;

  constructor(pairs: Iterable<readonly [key: Value, value: Value]>) {
    super();
    this.entries = new Map(Array.from(pairs, (pair) => [exactKey(pair[0]), pair]));
  }

  /** equality.ts compares maps entry by entry, because plain objects are maps too. */
  equals(other: this): boolean {
    return this === other;
  }
}

export type AnyMap = CelMap | PlainObject;

export function isMap(value: Value): value is AnyMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return value instanceof CelMap || !(value instanceof Boxed || value instanceof Uint8Array);
}

/** Returns the value of a key; undefined when the map has no such key. */
export function findKey(map: AnyMap, key: Value): Value {
  if (map instanceof CelMap) return entryOf(map, key)?.[1];
  return typeof key === 'string' && Object.hasOwn(map, key) ? adapt(map[key]) : undefined;
}

export function hasKey(map: AnyMap, key: Value): boolean {
  if (map instanceof CelMap) return entryOf(map, key) !== undefined;
  return typeof key === 'string' && Object.hasOwn(map, key);
}

export function keysOf(map: AnyMap): readonly Value[] {
  return map instanceof CelMap ? Array.from(map.entries.values(), ([key]) => key) : Object.keys(map);
}

/** Counting the keys of a plain object takes time, so it is charged. */
export function sizeOfMap(map: AnyMap, meter: Meter): number {
  if (map instanceof CelMap) return map.entries.size;
  const size = Object.keys(map).length;
  meter.spend(size);
  return size;
}

function entryOf({ entries }: CelMap, key: Value): readonly [Value, Value] | undefined {
  const exact = entries.get(exactKey(key));
  if (exact !== undefined || !isNumber(key)) return exact;
  const whole = wholeKey(key);
  return whole === undefined
    ? undefined
    : (entries.get(whole) ?? entries.get(`uint ${whole}`) ?? entries.get(`double ${whole}`));
}

type Numeric = bigint | Uint | Double;

function isNumber(key: Value): key is Numeric {
  return typeof key === 'bigint' || key instanceof Uint || key instanceof Double;
}

/** Marks strings, so that none equals the text of a number. */
function exactKey(key: Value): unknown {
  if (key instanceof Uint) return `uint ${key.value}`;
  if (key instanceof Double) return `double ${key.value}`;
  return typeof key === 'string' ? `string ${key}` : key;
}

function wholeKey(key: Numeric): bigint | undefined {
  if (typeof key === 'bigint') return key;
  if (key instanceof Uint) return key.value;
  return Number.isInteger(key.value) ? BigInt(key.value) : undefined;
}
