// Reads maps: plain JSON objects, by their own keys only, and maps that an expression creates.
import type { Meter } from './meter.ts';
import { adapt, Boxed, Double, Uint, type Value } from './value.ts';

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
