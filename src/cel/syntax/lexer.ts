// Splits CEL into tokens, one at a time, and finds the end of an expression inside a template.
import { CompileProblem } from './problem.ts';
import { scanString, stringStart, scanNumber } from './literals.ts';
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

/** The offset of the closing brace of an expression that begins at `start`; undefined when there is none. */
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

/** A character without meaning is skipped: the compiler will say what is wrong with it. */
function scan(source: string, offset: number): ReturnType<typeof scanToken> | undefined {
  try {
    return scanToken(source, offset);
  } catch (error) {
    if (!(error instanceof CompileProblem)) throw error;
    const isStray = !/["']/.test(source[error.offset] ?? '"');
    return isStray ? { kind: 'symbol', text: '', start: error.offset, end: error.offset + 1 } : undefined;
  }
}
