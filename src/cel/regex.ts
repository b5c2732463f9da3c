// Compiles regular expressions in RE2 syntax, which match in linear time whatever the pattern.
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { quoted } from '../base/text.ts';
import { compiled, refused, type CompileResult } from '../base/problem.ts';

export interface Regex {
  readonly source: string;
  /** The number of instructions: the maximum of steps for each character of a text. */
  readonly size: number;
  /** The units of one search. Matching takes at worst one step for each character of the text and each instruction. */
  cost(text: string): number;
  /** Returns true when the pattern matches anywhere in the text. */
  search(text: string): boolean;
  /** Returns the first match, or an empty text. */
  find(text: string): string;
  /** Returns at most `limit` matches, from left to right. */
  findAll(text: string, limit: number): readonly string[];
}

type RegexResult =
  { readonly ok: true; readonly regex: Regex } | { readonly ok: false; readonly problem: string };

/** A longer pattern takes long to compile, and long for every character of the text. */
const MAX_LENGTH = 4096;
/** Whatever the text: to start the matcher takes longer than to match a short text. */
const COST_OF_MATCHING = 5;

export function compileRegex(source: string): RegexResult {
  if (source.length > MAX_LENGTH)
    return { ok: false, problem: `the pattern is longer than ${MAX_LENGTH} characters` };
  const pattern = parsedPattern(source);
  if (typeof pattern === 'string') return { ok: false, problem: pattern };
  const size = pattern.programSize();
  return {
    ok: true,
    regex: {
      source,
      size,
      cost: (text) => COST_OF_MATCHING + Math.ceil((text.length * (8 + size)) / 64),
      search: (text) => pattern.test(text),
      find: (text) => findAll(pattern, text, 1)[0] ?? '',
      findAll: (text, limit) => findAll(pattern, text, limit),
    },
  };
}

/** Returns a text for a pattern that does not compile: the problem. */
function parsedPattern(source: string): RE2JS | string {
  try {
    return RE2JS.compile(withLibraryNames(source));
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return problemOf(error);
    return 'not a regular expression in RE2 syntax';
  }
}

/** Syntax of other languages that RE2 does not support: https://github.com/google/re2/wiki/Syntax */
const UNSUPPORTED: readonly (readonly [name: string, syntax: RegExp])[] = [
  ['lookahead', /^\(\?[=!]/],
  ['lookbehind', /^\(\?<[=!]/],
  ['atomic group', /^\(\?>/],
  ['backreference', /^\\(?:[1-9]|k)/],
];

/** The library's message quotes the rest of the pattern, so only its description is passed on. */
function problemOf(error: RE2JSSyntaxException): string {
  const part = error.getPattern() ?? '';
  for (const [name, syntax] of UNSUPPORTED) {
    const [found] = syntax.exec(part) ?? [];
    if (found !== undefined) return `${name} ${found} is not supported (RE2 syntax)`;
  }
  return `RE2 syntax: ${error.getDescription()}`;
}

/** As in Go, an empty match directly after another match does not count. */
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

// Rewrites the names in a pattern as Go reads them, for the library that compiles the pattern.
// https://pkg.go.dev/regexp/syntax

/** Escapes, quoted text and character classes stand here too, so that no name is found inside of them. */
const parts =
  /\\Q[^]*?(?:\\E|$)|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\\[pP](?:\{[^}]*\}|[^])|\\[^]|\(\?P?<\w+>/gu;
const escapes = /\\[pP](?:\{[^}]*\}|[^])|\\[^]/gu;

/**
 * Go ignores case, spaces, `_` and `-` in the name of a Unicode class, and knows the long names of categories. Go lets two
 * groups have one name. No caller asks for a group by name, so each group gets another name.
 */
function withLibraryNames(pattern: string): string {
  return pattern.replaceAll(parts, (part, at: number) => {
    if (part.startsWith('(')) return `(?<g${at}>`;
    if (part.startsWith('[')) return part.replaceAll(escapes, withClassName);
    return withClassName(part);
  });
}

/** `\p{^uppercase_letter}` → `\p{^Lu}` */
function withClassName(escape: string): string {
  const [, head, sign = '', name] = /^(\\[pP])\{?(\^?)([^}]*)\}?$/u.exec(escape) ?? [];
  if (head === undefined || name === undefined) return escape;
  const canonical = canonicalName(name);
  return `${head}{${sign}${unknownToGo.has(canonical) ? '' : (categories.get(canonical) ?? canonical)}}`;
}

function canonicalName(name: string): string {
  const lower = name.replaceAll(/[ _-]/g, '').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return lower.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/** Go 1.26 has the scripts of Unicode 15, and no properties. Longer names of both have a `_`, which Go does not find. */
const unknownToGo: ReadonlySet<string> = new Set(
  'Alphabetic Dash Emoji Garay Lowercase Math Sidetic Sunuwar Todhri Unknown Uppercase'.split(' '),
);

/** https://www.unicode.org/reports/tr44/#General_Category_Values */
const longNames = `
  C Other, Cc Control, Cc Cntrl, Cf Format, Cn Unassigned, Co PrivateUse, Cs Surrogate,
  L Letter, LC CasedLetter, Ll LowercaseLetter, Lm ModifierLetter, Lo OtherLetter, Lt TitlecaseLetter,
  Lu UppercaseLetter, M Mark, M CombiningMark, Mc SpacingMark, Me EnclosingMark, Mn NonspacingMark,
  N Number, Nd DecimalNumber, Nd Digit, Nl LetterNumber, No OtherNumber,
  P Punctuation, P Punct, Pc ConnectorPunctuation, Pd DashPunctuation, Pe ClosePunctuation,
  Pf FinalPunctuation, Pi InitialPunctuation, Po OtherPunctuation, Ps OpenPunctuation,
  S Symbol, Sc CurrencySymbol, Sk ModifierSymbol, Sm MathSymbol, So OtherSymbol,
  Z Separator, Zl LineSeparator, Zp ParagraphSeparator, Zs SpaceSeparator`;

const categories: ReadonlyMap<string, string> = new Map(
  longNames.split(',').map((entry) => {
    const [short = '', long = ''] = entry.trim().split(' ');
    return [canonicalName(long), short] as const;
  }),
);

// Compiles the patterns of policies: anchored globs, where `*` matches any text, and regular expressions.

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
