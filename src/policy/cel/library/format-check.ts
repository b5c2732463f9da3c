// Checks a format that stands in the expression together with its values: Kubernetes refuses a wrong one early.
import type { Type } from '../types/type.ts';
import { parseFormat, type Clause } from './format-clause.ts';

const TAKES: Readonly<Record<Clause['verb'], readonly string[] | 'most'>> = {
  s: 'most',
  d: ['int', 'uint'],
  o: ['int', 'uint'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  f: ['double', 'string'],
  e: ['double', 'string'],
};

/** What is wrong, if anything. All values of a list literal have one type. */
export function checkFormat(format: string, values: number, type: Type): string | undefined {
  const parts = parseFormat(format);
  if (typeof parts === 'string') return parts;
  const clauses = parts.filter((part) => typeof part !== 'string');
  if (clauses.length !== values) return `format has ${clauses.length} places for ${values} values`;
  const wrong = clauses.find(({ verb }) => !takes(verb, type));
  return wrong && `%${wrong.verb} does not take values of type ${type.kind}`;
}

function takes(verb: Clause['verb'], { kind }: Type): boolean {
  const kinds = TAKES[verb];
  if (kind === 'dyn' || kind === 'param') return true;
  if (kinds !== 'most') return kinds.includes(kind);
  return kind.startsWith('google.protobuf.') || !(kind.includes('.') || kind === 'optional_type');
}
