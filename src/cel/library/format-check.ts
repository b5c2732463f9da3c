// Checks a format that stands in the expression together with its values: Kubernetes refuses a wrong one early.
import type { Node } from '../syntax/ast.ts';
import type { Type } from '../types/type.ts';
import { parseFormat, type Clause } from './format-clause.ts';

type TypeOf = (value: Node) => Type;

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

/** What is wrong, if anything. */
export function checkFormat(format: string, values: readonly Node[], typeOf: TypeOf): string | undefined {
  const parts = parseFormat(format);
  if (typeof parts === 'string') return parts;
  const clauses = parts.filter((part) => typeof part !== 'string');
  if (clauses.length !== values.length)
    return `format has ${clauses.length} places for ${values.length} values`;
  const wrong = values.findIndex((value, index) => !takes(clauses[index]?.verb ?? 's', value, typeOf));
  return wrong === -1 ? undefined : `%${clauses[wrong]?.verb} does not take a value of this type`;
}

function takes(verb: Clause['verb'], value: Node, typeOf: TypeOf): boolean {
  const { kind } = typeOf(value);
  const kinds = TAKES[verb];
  if (kinds !== 'most') return kind === 'dyn' || kind === 'param' || kinds.includes(kind);
  if (kind.startsWith('google.protobuf.')) return true;
  if (kind.includes('.') || kind === 'optional_type') return false;
  return partsOf(value).every((part) => takes(verb, part, typeOf));
}

/** What a literal list or map holds. */
function partsOf(value: Node): readonly Node[] {
  if (value.kind === 'list') return value.elements.map((element) => element.value);
  return value.kind === 'map' ? value.entries.flatMap((entry) => [entry.key, entry.value]) : [];
}
