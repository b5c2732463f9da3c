// Strings as CEL counts them: in characters (code points), where JavaScript counts UTF-16 units.

const SURROGATES = /[\uD800-\uDFFF]/;
const PAIRS = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

export function countCharacters(text: string): number {
  return SURROGATES.test(text) ? text.length - (text.match(PAIRS)?.length ?? 0) : text.length;
}

/** The text as something indexed by characters: itself, where that is the same. */
export function charactersOf(text: string): string | readonly string[] {
  return SURROGATES.test(text) ? Array.from(text) : text;
}

export function sliceCharacters(text: string, start: number, end?: number): string {
  const characters = charactersOf(text);
  return typeof characters === 'string'
    ? characters.slice(start, end)
    : characters.slice(start, end).join('');
}

/** How many characters lie before a position in UTF-16 units. */
export function characterIndex(text: string, position: number): number {
  return position < 0 ? -1 : countCharacters(text.slice(0, position));
}

/** The position in UTF-16 units of a character. */
export function unitIndex(text: string, character: number): number {
  return sliceCharacters(text, 0, character).length;
}
