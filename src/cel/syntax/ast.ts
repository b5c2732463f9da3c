// Defines the tree that the parser builds from an expression.
import type { Type } from '../types/type.ts';
import type { Value } from '../values/value.ts';

interface At {
  /** The offset of the node's own token in the source. */
  readonly offset: number;
}

export interface Literal extends At {
  readonly kind: 'literal';
  readonly type: Type;
  readonly value: Value;
}

export interface Identifier extends At {
  readonly kind: 'identifier';
  readonly name: string;
}

/** `a.b`, `a.?b`, or has(a.b). */
export interface Select extends At {
  readonly kind: 'select';
  readonly operand: Node;
  readonly field: string;
  readonly mode: 'plain' | 'optional' | 'test';
}

/** `a[b]`, `a[?b]`. */
export interface Index extends At {
  readonly kind: 'index';
  readonly operand: Node;
  readonly key: Node;
  readonly isOptional: boolean;
}

/** A function, a method or an operator. An operator has a name such as `_+_`. */
export interface Call extends At {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Node | undefined;
  readonly args: readonly Node[];
}

export interface ListLiteral extends At {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Node; readonly isOptional: boolean }[];
}

export interface MapLiteral extends At {
  readonly kind: 'map';
  readonly entries: readonly { readonly key: Node; readonly value: Node; readonly isOptional: boolean }[];
}

export type LoopForm =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'filter'
  | 'map'
  | 'sortBy'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry';

/** A macro that goes through a list or map. */
export interface Loop extends At {
  readonly kind: 'loop';
  readonly form: LoopForm;
  readonly range: Node;
  /** The element or the key. Of two variables, the first is the index or key, the second the element or value. */
  readonly variables: readonly string[];
  readonly condition: Node | undefined;
  readonly body: Node;
}

/** `a.optMap(x, body)`, `a.optFlatMap(x, body)`. */
export interface OptionalMap extends At {
  readonly kind: 'optional-map';
  readonly isFlat: boolean;
  readonly operand: Node;
  readonly variable: string;
  readonly body: Node;
}

export type Node =
  Literal | Identifier | Select | Index | Call | ListLiteral | MapLiteral | Loop | OptionalMap;

// Defines the problem of an expression and its place. expression.ts returns it as data.

export class CompileError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Returns the line and column of an offset, both from 1. */
export function positionOf(
  source: string,
  offset: number,
): { readonly line: number; readonly column: number } {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

export function unexpected(token: { readonly text: string; readonly start: number }): CompileError {
  return new CompileError(`unexpected ${token.text.slice(0, 40)}`, token.start);
}
