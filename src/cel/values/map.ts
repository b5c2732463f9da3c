// Maps: plain JSON objects, read by own keys only, and those that an expression makes.
import type { Meter } from './meter.ts';
import { adapt, Boxed, Double, Uint, type Value } from './value.ts';

type PlainObject = Readonly<Record<string, unknown>>;

/** A map made by an expression. 1 and 1u are two keys, but each finds the other where only that one is there. */
export class CelMap extends Boxed {
  readonly kind = 'map';
  readonly entries: ReadonlyMap<unknown, readonly [key: Value, value: Value]>;

  constructor(pairs: Iterable<readonly [key: Value, value: Value]>) {
    super();
    this.entries = new Map(Array.from(pairs, (pair) => [exactKey(pair[0]), pair]));
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

/** A plain object does not know how many keys it has: they are counted, and that is charged. */
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

/** Strings are marked when they could be taken for the text that stands for a number. */
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
