// Finds a short text that matches a regular expression, for the examples of a first suite.
import { compileRegex } from '../../cel/regex.ts';

/** An escape, a class, the start of a group, or one character. */
const part =
  /\\[pP](?:\{\^?\w+\}|\w)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\((?:\?(?:P?<\w+>|[\w-]*[:)]))?|[^]/y;
const quantifier = /(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/y;
const anchors = ['^', '$', '\\A', '\\z', '\\b', '\\B'];

/**
 * Takes the first alternative, each part as seldom as allowed, and of each class a character of `preferred` if it has one.
 * Returns undefined if that text does not match, which is rare.
 */
export function textMatching(pattern: string, preferred = 'a0'): string | undefined {
  const text = new PatternReader(pattern, `${preferred}A-_.@/ `).alternatives();
  const compiled = compileRegex(pattern);
  return compiled.ok && compiled.regex.search(text) ? text : undefined;
}

class PatternReader {
  readonly #pattern: string;
  readonly #characters: string;
  #at = 0;

  constructor(pattern: string, characters: string) {
    this.#pattern = pattern;
    this.#characters = characters;
  }

  alternatives(): string {
    const first = this.#sequence();
    while (this.#pattern[this.#at] === '|') {
      this.#at += 1;
      this.#sequence();
    }
    return first;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern.charAt(this.#at))) {
      const once = this.#part(this.#take(part)?.[0] ?? '');
      const times = this.#take(quantifier);
      text += once.repeat(times === undefined ? 1 : lowestCount(times));
    }
    return text;
  }

  #part(source: string): string {
    if (anchors.includes(source)) return '';
    if (!source.startsWith('(')) return this.#character(source);
    // Flags, as in (?i), are no group.
    if (source.endsWith(')')) return '';
    const inner = this.alternatives();
    this.#at += 1;
    return inner;
  }

  #character(source: string): string {
    const compiled = compileRegex(`^(?:${source})$`);
    const candidates = Array.from(this.#characters + source);
    return candidates.find((each) => compiled.ok && compiled.regex.search(each)) ?? '';
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(expression);
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#pattern) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/** RE2 allows at most 1000. */
function lowestCount([source, count]: RegExpExecArray): number {
  if (count !== undefined) return Number(count);
  return source.startsWith('+') ? 1 : 0;
}
