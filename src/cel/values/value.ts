// Defines the values of CEL: plain JSON where possible, and a small class for every other type.

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
