// Makes values that others wrote safe for our messages: short, on one line, without control characters.

const maxLength = 80;
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
  const listed = words.slice(0, shown);
  if (words.length > shown) return `${listed.join(', ')} or ${words.length - shown} more`;
  return listed.length < 2 ? listed.join('') : `${listed.slice(0, -1).join(', ')} or ${listed.at(-1) ?? ''}`;
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
