// Turns the regular expressions with which older tools name namespaces into globs, where both match the same names.
import { compileRegex } from '../cel/regex.ts';

/**
 * How a tool compares its expression with the name of a namespace.
 * `whole`: the first match must be the whole name. `strict`: ^ and $ are put around the text as it stands.
 * `start`: the match begins at the start of the name, and may end anywhere.
 */
export type Anchoring = 'whole' | 'strict' | 'start';

export type NamePattern =
  | { readonly kind: 'glob'; readonly glob: string }
  | {
      readonly kind: 'regex';
      /** RE2 that is searched in the name. Undefined where no such expression means the same. */
      readonly source: string | undefined;
      readonly matches: (name: string) => boolean;
    }
  | { readonly kind: 'invalid'; readonly why: string };

/** Any characters that a name of a namespace can have. */
const anything = /\.\*|\[(?:a-z0-9-|-a-z0-9|0-9a-z-)\]\*/gu;
/** A glob, in which < stands for any characters. */
const plain = /^(?:[-a-z0-9<]|\\-)*$/u;
/** An atom that may be missing, at the end of an expression that matches the start of a name. */
const optionalEnd = /(?:[-a-z0-9]|\\-|\[[^\]]*\]|\.)\*$/u;

export function namePattern(text: string, anchoring: Anchoring): NamePattern {
  const glob = globOf(text, anchoring);
  if (glob !== undefined) return { kind: 'glob', glob };
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

/** Undefined where no glob matches the same names. */
function globOf(text: string, anchoring: Anchoring): string | undefined {
  const endsOpen = anchoring === 'start' && !text.endsWith('$');
  const inner = text.replace(/^\^/u, '').replace(/\$$/u, '');
  // A quantifier would belong to the part before it.
  const marked = (endsOpen ? inner.replace(optionalEnd, '') : inner).replaceAll(anything, '<');
  if (!plain.test(marked)) return undefined;
  const glob = `${marked}${endsOpen ? '<' : ''}`.replaceAll('\\', '').replaceAll(/<+/gu, '*');
  return glob === '' ? undefined : glob;
}

/** RE2 for a name with `*` for any characters and `?` for one. */
export function sourceOfGlob(glob: string): string {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/gu, '\\$&');
  return `^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`;
}
