// Regular expressions in RE2's language: time linear in the text, whatever the pattern.
import { RE2JS } from 're2js';

export interface Regex {
  readonly source: string;
  /** How many instructions it has: matching takes at most this many steps for each character. */
  readonly size: number;
  /** Whether it matches anywhere in the text. */
  search(text: string): boolean;
  /** The first match, or the empty text. */
  find(text: string): string;
  /** The matches from left to right, at most `limit` of them. */
  findAll(text: string, limit: number): readonly string[];
}

export type RegexResult =
  { readonly ok: true; readonly regex: Regex } | { readonly ok: false; readonly problem: string };

/** Longer patterns take long to compile and long for every character of the text. */
const MAX_LENGTH = 4096;

export function compileRegex(source: string): RegexResult {
  if (source.length > MAX_LENGTH)
    return { ok: false, problem: `the pattern is longer than ${MAX_LENGTH} characters` };
  const pattern = compilePattern(source);
  if (pattern === undefined) return { ok: false, problem: 'the pattern is not a regular expression of RE2' };
  return {
    ok: true,
    regex: {
      source,
      size: pattern.programSize(),
      search: (text) => pattern.test(text),
      find: (text) => findAll(pattern, text, 1)[0] ?? '',
      findAll: (text, limit) => findAll(pattern, text, limit),
    },
  };
}

function compilePattern(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source);
  } catch {
    // The library's error quotes the pattern; all that matters here is that there is none.
    return undefined;
  }
}

/** As Go does it: an empty match right after another match does not count. */
function findAll(pattern: RE2JS, text: string, limit: number): readonly string[] {
  const matcher = pattern.matcher(text);
  const found: string[] = [];
  let previousEnd = -1;
  while (found.length < limit && matcher.find()) {
    const isEmptyNeighbor = matcher.start() === matcher.end() && matcher.start() === previousEnd;
    if (!isEmptyNeighbor) found.push(matcher.group() ?? '');
    previousEnd = matcher.end();
  }
  return found;
}
