// Splits CEL into tokens, one at a time, and finds the end of an expression inside a template.
import { CompileProblem } from './problem.ts';
import { scanString, stringStart, scanNumber } from './literals.ts';
import type { Token } from './token.ts';

const SPACE = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;

/** Returns the token at or after an offset. White space and comments are skipped. */
export function scanToken(source: string, offset: number): Token {
  const start = offset + matchAt(SPACE, source, offset).length;
  if (start >= source.length) return { kind: 'end', text: 'the end', start, end: start };
  const prefix = stringStart(source, start);
  if (prefix !== undefined) return scanString(source, start, prefix);
  const number = scanNumber(source, start);
  if (number !== undefined) return number;
  const identifier = matchAt(IDENTIFIER, source, start);
  if (identifier !== '')
    return { kind: 'identifier', text: identifier, start, end: start + identifier.length };
  const symbol = matchAt(SYMBOL, source, start);
  if (symbol === '') throw new CompileProblem('a character that CEL does not know', start);
  return { kind: 'symbol', text: symbol, start, end: start + symbol.length };
}

/** Returns what a sticky pattern matches at an offset, or an empty text. */
function matchAt(pattern: RegExp, source: string, offset: number): string {
  const sticky = new RegExp(pattern.source, 'y');
  sticky.lastIndex = offset;
  return sticky.exec(source)?.[0] ?? '';
}

/** Returns the offset of the brace that closes an expression; undefined when no brace does. */
export function findEnd(source: string, start: number): number | undefined {
  let depth = 0;
  for (let offset = start; ;) {
    const token = scan(source, offset);
    if (token === undefined || token.kind === 'end') return undefined;
    if (token.text === '}' && token.kind === 'symbol') {
      if (depth === 0) return token.start;
      depth -= 1;
    }
    if (token.text === '{' && token.kind === 'symbol') depth += 1;
    offset = token.end;
  }
}

/** Skips a character that CEL does not know. The compiler reports it later. */
function scan(source: string, offset: number): ReturnType<typeof scanToken> | undefined {
  try {
    return scanToken(source, offset);
  } catch (error) {
    if (!(error instanceof CompileProblem)) throw error;
    const isStray = !/["']/.test(source[error.offset] ?? '"');
    return isStray ? { kind: 'symbol', text: '', start: error.offset, end: error.offset + 1 } : undefined;
  }
}
