// Splits CEL into tokens, one at a time, so that templates can find where an expression ends.
import { CompileProblem } from './problem.ts';
import { scanNumber } from './number-literal.ts';
import { scanString, stringStart } from './string-literal.ts';
import type { Token } from './token.ts';

const SPACE = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;

/** The token that begins at or after an offset, white space and comments skipped. */
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

/** What a sticky pattern matches at an offset, or the empty text. */
function matchAt(pattern: RegExp, source: string, offset: number): string {
  const sticky = new RegExp(pattern.source, 'y');
  sticky.lastIndex = offset;
  return sticky.exec(source)?.[0] ?? '';
}
