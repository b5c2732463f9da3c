// Defines the problem of an expression and its place. expression.ts returns it as data.

export class CompileProblem extends Error {
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

export function unexpected(token: { readonly text: string; readonly start: number }): CompileProblem {
  return new CompileProblem(`unexpected ${token.text.slice(0, 40)}`, token.start);
}
