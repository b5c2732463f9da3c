// Turns the regular expressions that older tools match with namespaces into globs, where both match the same names.
import { compileRegex } from '../cel/regex.ts';

/**
 * How a tool compares its expression with the name of a namespace.
 * `whole`: the first match must be the whole name. `strict`: ^ and $ are put around the text as it stands.
 * `start`: the match begins at the start of the name, and may end anywhere.
 */
export type Anchoring = 'whole' | 'strict' | 'start';

type NamePattern =
  /** Names that one of the globs matches. */
  | { readonly kind: 'globs'; readonly globs: readonly string[] }
  | {
      readonly kind: 'regex';
      /** An RE2 expression to search in the name. Undefined if no such expression means the same. */
      readonly source: string | undefined;
      readonly matches: (name: string) => boolean;
    }
  | { readonly kind: 'invalid'; readonly why: string };

/** Any characters that a name of a namespace can have. */
const anything = String.raw`(?:\.|\[(?:a-z0-9-|-a-z0-9|0-9a-z-)\])`;
const [any, some] = [
  new RegExp(String.raw`${anything}\*`, 'gu'),
  new RegExp(String.raw`${anything}\+`, 'gu'),
];
/** Text of globs, brackets, bars and anchors. < stands for any characters, > for one or more. */
const plain = /^[-a-z0-9<>()|?^$]*$/u;
/** An atom that may be missing, at the end of an expression that matches the start of a name. */
const optionalEnd = /(?:[-a-z0-9]|\\-|\[[^\]]*\]|\.)\*$/u;
/** Alternatives multiply. */
const maxGlobs = 20;

export function namePattern(text: string, anchoring: Anchoring): NamePattern {
  if (anchoring === 'start' && /\{,\d*\}/u.test(text))
    return { kind: 'invalid', why: '{,n} counts from 0 in Python, and is literal in RE2' };
  const globs = globsOf(text, anchoring);
  if (globs !== undefined) return { kind: 'globs', globs };
  const anchored = anchoredSource(text, anchoring);
  const compiled = compileRegex(anchored);
  if (!compiled.ok) return { kind: 'invalid', why: compiled.problem };
  const { regex } = compiled;
  if (anchoring !== 'whole')
    return { kind: 'regex', source: anchored, matches: (name) => regex.search(name) };
  // Perl-like engines take the first alternative that matches, even where another one would reach the end of the name.
  const isSame = !/[|?]/u.test(text);
  const source = isSame ? `^(?:${text})$` : undefined;
  return { kind: 'regex', source, matches: (name) => regex.find(name).length === name.length };
}

function anchoredSource(text: string, anchoring: Anchoring): string {
  if (anchoring === 'whole') return text;
  if (anchoring === 'start') return `^(?:${text})`;
  return `${text.startsWith('^') ? '' : '^'}${text}${text.endsWith('$') ? '' : '$'}`;
}

/** Returns undefined if no globs match the same names. */
function globsOf(text: string, anchoring: Anchoring): readonly string[] | undefined {
  const isOpen = anchoring === 'start' && !text.endsWith('$');
  const written = alternativesOf(anchoredSource(isOpen ? text.replace(optionalEnd, '') : text, anchoring));
  if (written === undefined || (anchoring === 'whole' && written.some(endsEarly))) return undefined;
  const globs = written.map((each) => {
    const body = each.replace(/^\^+/u, '').replace(/\$+$/u, '');
    if (anchoring === 'whole') return globOf(body);
    return globOf(`${each.startsWith('^') ? '' : '<'}${body}${each.endsWith('$') ? '' : '<'}`);
  });
  // No name is empty.
  const found = [...new Set(globs)].filter((glob) => glob !== '');
  return found.length === 0 || found.includes(undefined) ? undefined : found.flatMap((glob) => glob ?? []);
}

/** Returns the expression without groups, in the order in which an engine tries its alternatives. */
function alternativesOf(text: string): readonly string[] | undefined {
  const marked = text
    .replaceAll('\\-', '-')
    .replaceAll('(?:', '(')
    .replaceAll(any, '<')
    .replaceAll(some, '>');
  const characters = marked.split('');
  const alternatives = plain.test(marked) ? readAlternatives(characters) : undefined;
  return characters.length === 0 ? alternatives : undefined;
}

/** Takes the characters up to a closing bracket. Returns undefined for too many alternatives. */
function readAlternatives(characters: string[]): readonly string[] | undefined {
  const done: string[] = [];
  let current: readonly string[] = [''];
  while (characters.length > 0 && characters[0] !== ')') {
    if (characters[0] === '|') {
      done.push(...current);
      current = [''];
      characters.shift();
      continue;
    }
    const parts = readPart(characters);
    if (parts === undefined || parts.length * current.length + done.length > maxGlobs) return undefined;
    current = current.flatMap((start) => parts.map((part) => `${start}${part}`));
  }
  return [...done, ...current];
}

/** Takes a group or one character, which may be optional. */
function readPart(characters: string[]): readonly string[] | undefined {
  const first = characters.shift() ?? '';
  if (first === '?') return undefined;
  const inside = first === '(' ? readAlternatives(characters) : [first];
  if (inside === undefined || (first === '(' && characters.shift() !== ')')) return undefined;
  if (characters[0] !== '?' || /[<>^$]/u.test(first)) return inside;
  characters.shift();
  return [...inside, ''];
}

/** True if the alternative ends inside a name that a later one would match as a whole. */
function endsEarly(each: string, index: number, all: readonly string[]): boolean {
  const later = all.slice(index + 1).map((other) => other.replaceAll(/[$^]/gu, ''));
  const body = each.replace(/^\^+/u, '');
  if (later.length === 0 || /[<>$]$/u.test(body)) return false;
  if (/[<>]/u.test(body)) return true;
  return later.some((other) => {
    const [start = ''] = other.split(/[<>]/u);
    return (other !== body && other.startsWith(body)) || (other !== start && body.startsWith(start));
  });
}

/** A name neither begins nor ends with a hyphen. So at either end, any characters are one or more. */
function globOf(body: string): string | undefined {
  const glob = body.replace(/(?<=^|-)<*><*$/u, '<').replace(/^<*><*(?=-)/u, '<');
  return /[>^$]/u.test(glob) ? undefined : glob.replaceAll(/<+/gu, '*');
}

/** Returns RE2 for a name, with `*` for any characters and `?` for one. */
export function sourceOfGlob(glob: string): string {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/gu, '\\$&');
  return `^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`;
}
