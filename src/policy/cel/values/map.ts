// Maps: plain JSON objects, read by own keys only, and those that an expression makes.
import { adapt, Boxed, Double, Uint, type Value } from './value.ts';

type PlainObject = Readonly<Record<string, unknown>>;

/** A map made by an expression. Keys that CEL calls equal (1, 1u, 1.0) are one key. */
export class CelMap extends Boxed {
  readonly kind = 'map';
  readonly entries: ReadonlyMap<unknown, readonly [key: Value, value: Value]>;

  constructor(pairs: Iterable<readonly [key: Value, value: Value]>) {
    super();
    this.entries = new Map(Array.from(pairs, (pair) => [normalKey(pair[0]), pair]));
  }

  /** Maps are compared entry by entry in equality.ts, since plain objects are maps too. */
  equals(other: this): boolean {
    return this === other;
  }
}

export type AnyMap = CelMap | PlainObject;

export function isMap(value: Value): value is AnyMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return value instanceof CelMap || !(value instanceof Boxed || value instanceof Uint8Array);
}

/** The value of a key, or undefined when the map has no such key. */
export function findKey(map: AnyMap, key: Value): Value {
  if (map instanceof CelMap) return map.entries.get(normalKey(key))?.[1];
  return typeof key === 'string' && Object.hasOwn(map, key) ? adapt(map[key]) : undefined;
}

export function hasKey(map: AnyMap, key: Value): boolean {
  if (map instanceof CelMap) return map.entries.has(normalKey(key));
  return typeof key === 'string' && Object.hasOwn(map, key);
}

export function keysOf(map: AnyMap): readonly Value[] {
  return map instanceof CelMap ? Array.from(map.entries.values(), ([key]) => key) : Object.keys(map);
}

export function sizeOfMap(map: AnyMap): number {
  return map instanceof CelMap ? map.entries.size : Object.keys(map).length;
}

/** The one form of all keys that are equal across the numeric types. */
function normalKey(key: Value): unknown {
  if (key instanceof Uint) return key.value;
  if (key instanceof Double) return Number.isInteger(key.value) ? BigInt(key.value) : key.value;
  return key;
}
