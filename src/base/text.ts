// How values that somebody else wrote appear in our messages: short, on one line, without control characters.

const longest = 80;

/** At most so many characters, none of which can move a cursor, turn the writing direction or break a line. */
export function clipped(text: string, limit = longest): string {
  // Reading four times as much fills the result unless most of it is unprintable, and bounds the work.
  const head = text.slice(0, 4 * limit);
  // Replaced, not dropped: two texts that differ must not look the same.
  const printable = head.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  const characters = Array.from(printable);
  if (characters.length <= limit && head.length === text.length) return printable;
  return `${characters.slice(0, limit - 1).join('')}…`;
}

/** `a, b or c`; beyond so many words, how many more there are. */
export function alternatives(words: readonly string[], shown = 10): string {
  const listed = words.slice(0, shown);
  if (words.length > shown) return `${listed.join(', ')} or ${words.length - shown} more`;
  return listed.length < 2 ? listed.join('') : `${listed.slice(0, -1).join(', ')} or ${listed.at(-1) ?? ''}`;
}

/** What was found, in our words: `"text"`, `5`, `a list of 3`, `nothing`. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return value === '' ? 'empty text' : `"${clipped(value)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return clipped(String(value));
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'an empty object' : 'an object';
  return 'something that JSON cannot hold';
}
