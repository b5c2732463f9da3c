// Reads number literals: 1, 0xff, 1u, 1.5, .5, 1e3; a sign belongs to the parser.
import { CompileProblem } from './problem.ts';
import type { Token } from './token.ts';
import { Double, MAX_INT, MAX_UINT, Uint } from '../values/value.ts';

const NUMBER =
  /(?<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(?<int>0x[0-9a-fA-F]+|\d+)(?<unsigned>[uU])?/;

/** undefined when no number begins at the offset. */
export function scanNumber(source: string, start: number): Token | undefined {
  const pattern = new RegExp(NUMBER.source, 'y');
  pattern.lastIndex = start;
  const match = pattern.exec(source);
  if (match === null) return undefined;
  const span = { text: match[0], start, end: start + match[0].length };
  const { double, int = '0', unsigned } = match.groups ?? {};
  if (double !== undefined) return { kind: 'double', value: readDouble(double, start), ...span };
  if (unsigned !== undefined)
    return { kind: 'uint', value: new Uint(readInteger(int, MAX_UINT, start)), ...span };
  // One more than the greatest int: the parser allows it after a minus sign only.
  return { kind: 'int', value: readInteger(int, MAX_INT + 1n, start), ...span };
}

function readInteger(text: string, max: bigint, offset: number): bigint {
  const value = BigInt(text);
  if (value > max) throw new CompileProblem('the number is too large', offset);
  return value;
}

function readDouble(text: string, offset: number): Double {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new CompileProblem('the number is too large', offset);
  return new Double(value);
}
