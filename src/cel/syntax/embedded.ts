// Finds where an expression that is embedded in text between braces ends.
import { scanToken } from './lexer.ts';
import { CompileProblem } from './problem.ts';

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
