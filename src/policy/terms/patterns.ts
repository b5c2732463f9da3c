// Anchored globs: `*` stands for any run of characters, everything else for itself.
import { compiled, refused, type CompileResult } from './compile-result.ts';
import { compileRegex, type Regex } from '../../cel/regex.ts';

export interface Glob {
  readonly source: string;
  /** What every match begins with: the text before the first `*`. */
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

/** The first place where each middle part fits is as good as any later one, so one pass over the text decides. */
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

export function compilePattern(source: string, path: readonly (string | number)[]): CompileResult<Regex> {
  const result = compileRegex(source);
  if (result.ok) return compiled(result.regex);
  return refused([{ path, found: result.problem, accepted: 'a regular expression in RE2 syntax' }]);
}
