// Compiles the patterns of policies: anchored globs, where `*` matches any text, and regular expressions.
import { compileRegex, type Regex } from './regex.ts';
import { quoted } from '../base/text.ts';
import { compiled, refused, type CompileResult } from '../base/problem.ts';

export interface Glob {
  readonly source: string;
  /** The text before the first `*`, with which every match begins. */
  readonly prefix: string;
  /** True without a `*`: only the source itself matches. */
  readonly exact: boolean;
  matches(text: string): boolean;
}

export function compileGlob(source: string): Glob {
  const [prefix = '', ...rest] = source.split('*');
  if (rest.length === 0) return { source, prefix, exact: true, matches: (text) => text === source };
  const suffix = rest.at(-1) ?? '';
  const middles = rest.slice(0, -1).filter((part) => part !== '');
  return { source, prefix, exact: false, matches: (text) => matchesParts(text, prefix, middles, suffix) };
}

/** Takes the first place where each middle part fits. A later place is never better, so one pass is enough. */
function matchesParts(text: string, prefix: string, middles: readonly string[], suffix: string): boolean {
  if (text.length < prefix.length + suffix.length) return false;
  if (!text.startsWith(prefix) || !text.endsWith(suffix)) return false;
  const end = text.length - suffix.length;
  let from = prefix.length;
  for (const part of middles) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/** Compiles a regular expression, which may match anywhere in a text. */
export function compilePattern(source: string, path: readonly (string | number)[]): CompileResult<Regex> {
  const result = compileRegex(source);
  if (result.ok) return compiled(result.regex);
  const found = `the pattern ${quoted(source)}`;
  return refused([{ path, found, accepted: 'a regular expression (RE2 syntax)', message: result.problem }]);
}
