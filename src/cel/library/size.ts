// size(): characters of a string, octets, elements, entries.
import { BYTES, DYN, INT, listType, mapType, STRING, type Type } from '../types/type.ts';
import { sizeOfMap } from '../values/map.ts';
import type { Meter } from '../values/meter.ts';
import { countCharacters } from '../values/text.ts';
import { defineFunction, defineMethod, type FunctionDefinition } from './define.ts';

const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);

function bothWays<V>(type: Type<V>, size: (value: V, meter: Meter) => number): readonly FunctionDefinition[] {
  const run = (value: V, meter: Meter): bigint => BigInt(size(value, meter));
  return [defineFunction('size', [type], INT, run), defineMethod('size', [type], INT, run)];
}

export const sizeFunctions: readonly FunctionDefinition[] = [
  ...bothWays(BYTES, (bytes) => bytes.length),
  ...bothWays(LIST, (list) => list.length),
  ...bothWays(MAP, sizeOfMap),
  ...bothWays(STRING, countCharacters),
];
