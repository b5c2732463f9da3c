// How values are put into the sentences of a verdict.
import { clipped } from '../api/text.ts';

/** "text", short and fit to be shown. */
export function quoted(text: string): string {
  return `"${clipped(text)}"`;
}

/** "a", "b" or "c" */
export function alternatives(values: readonly string[], shown = 10): string {
  const listed = values.slice(0, shown);
  if (values.length > shown) return `${listed.join(', ')} or ${values.length - shown} more`;
  return listed.length < 2 ? listed.join('') : `${listed.slice(0, -1).join(', ')} or ${listed.at(-1) ?? ''}`;
}
