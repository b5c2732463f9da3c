// size(): characters of a string, octets, elements, entries.
import { BYTES, DYN, INT, listOf, mapOf, STRING, type Type } from '../types/type.ts';
import { sizeOfMap, type AnyMap } from '../values/map.ts';
import type { Meter } from '../values/meter.ts';
import { countCharacters } from '../values/text.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

const LIST = listOf(DYN);
const MAP = mapOf(DYN, DYN);

function bothWays<V>(type: Type<V>, size: (value: V, meter: Meter) => number): readonly FunctionDefinition[] {
  const run = (value: V, meter: Meter): bigint => BigInt(size(value, meter));
  return [defineFunction('size', [type], INT, run), defineMethod('size', [type], INT, run)];
}

/** A plain object does not know how many keys it has: they are counted. */
function sizeOfMapCharged(map: AnyMap, meter: Meter): number {
  const size = sizeOfMap(map);
  meter.spend(size);
  return size;
}

export const sizeFunctions: readonly FunctionDefinition[] = [
  ...bothWays(BYTES, (bytes) => bytes.length),
  ...bothWays(LIST, (list) => list.length),
  ...bothWays(MAP, sizeOfMapCharged),
  ...bothWays(STRING, countCharacters),
];
