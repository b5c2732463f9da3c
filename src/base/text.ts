// Bounds and words texts for messages, puts words into the plural, and escapes what terminals and runners would obey.

const maxLength = 80;
const maxListed = 5;
/** The API server cuts warnings at 256 characters, and the number at the end must not be lost. */
const maxListLength = 160;
const printableAscii = /^[ -~]*$/;

/** Cuts to `limit` characters, and replaces control characters, line breaks and changes of the writing direction. */
export function clipped(text: string, limit = maxLength): string {
  // Nearly all texts are names. Taking those apart took 1 % of the time of an answer.
  if (text.length <= limit && printableAscii.test(text)) return text;
  // Four times the limit is enough text unless most of it is unprintable, and it bounds the work.
  const head = text.slice(0, 4 * limit);
  // Characters are replaced, not dropped: two different texts must not look the same.
  const printable = head.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  const characters = Array.from(printable);
  if (characters.length <= limit && head.length === text.length) return printable;
  return `${characters.slice(0, limit - 1).join('')}…`;
}

/** Returns `a, b or c`; with more than `shown` words, `a, b or 7 more`. */
export function alternatives(words: readonly string[], shown = 10): string {
  const first = words.slice(0, shown);
  if (words.length > shown) return `${first.join(', ')} or ${words.length - shown} more`;
  return first.length < 2 ? first.join('') : `${first.slice(0, -1).join(', ')} or ${first.at(-1) ?? ''}`;
}

/** Returns the text in quotes, shortened and printable. */
export function quoted(text: string): string {
  return `"${clipped(text)}"`;
}

/** `1 namespace`, `3 namespaces`. */
export function counted(count: number, thing: string): string {
  return `${count} ${plural(count, thing)}`;
}

export function plural(count: number, thing: string): string {
  return count === 1 ? thing : `${thing}s`;
}

/** `2,500,000 units`, of the work that budgets count. */
export function unitsText(units: number): string {
  return `${Math.round(units).toLocaleString('en-US')} units`;
}

/** `a, b, c`. Lists at most five names, fewer when they are long, and then the number of the others. */
export function listed(names: readonly string[]): string {
  const sorted = names.toSorted();
  const shown: string[] = [];
  for (const name of sorted.slice(0, maxListed)) {
    if (shown.length > 0 && [...shown, name].join(', ').length > maxListLength) break;
    shown.push(name);
  }
  const more = sorted.length - shown.length;
  return shown.join(', ') + (more === 0 ? '' : ` and ${more} more`);
}

/** Describes a value in our words: `"text"`, `5`, `a list of 3`, `nothing`. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return value === '' ? 'empty text' : `"${clipped(value)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return clipped(String(value));
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'an empty object' : 'an object';
  return 'something that JSON cannot hold';
}

/** Control characters but tabs and line ends, halves of characters, and those that turn the direction of writing. */
export const steering =
  // oxlint-disable-next-line no-control-regex -- these are what must not be printed
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\p{Cs}]/gu;

/** A runner reads such a line as a command: https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions */
export const runnerCommand = /^(\s*):(?=:[\w-]+(?: [^\n]*)?::)/gm;
/** The older form, anywhere in a line. */
export const oldRunnerCommand = /##(?=\[[\w-]+)/g;

/** Returns whether the text cannot be printed as it is. */
export function isSteering(text: string): boolean {
  return [steering, runnerCommand, oldRunnerCommand].some((pattern) => text.search(pattern) >= 0);
}

/** Returns a JSON or YAML text in which these parts stand inside double quotes, with escapes: a reader gets the same values. */
export function escapedInQuotes(text: string): string {
  return text
    .replaceAll(steering, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll(oldRunnerCommand, String.raw`#\u0023`);
}

/** Clips to a number of bytes of UTF-8, and never cuts a character in two. */
export function clippedBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const ellipsis = '…';
  const bytes = Buffer.from(text).subarray(0, maxBytes - Buffer.byteLength(ellipsis));
  return `${new TextDecoder().decode(bytes, { stream: true })}${ellipsis}`;
}

// Puts words into the plural: the resource of a kind, guessed without asking an API server, and counted kinds in a text.

/** https://pkg.go.dev/k8s.io/apimachinery/pkg/api/meta#UnsafeGuessKindToResource */
export function guessedPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith('endpoints')) return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/** `2 NetworkPolicies` */
export function countedWord(count: number, word: string): string {
  if (count === 1) return `1 ${word}`;
  if (word.endsWith('y')) return `${count} ${word.slice(0, -1)}ies`;
  return `${count} ${word}${word.endsWith('s') ? 'es' : 's'}`;
}

/** Undefined for bytes that are no text in UTF-8. */
export function utf8Of(bytes: Buffer): string | undefined {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : undefined;
}
