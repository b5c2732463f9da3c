// How a value is put into the sentences of a verdict.
import { clipped } from '../../base/text.ts';

/** "text", short and fit to be shown. */
export function quoted(text: string): string {
  return `"${clipped(text)}"`;
}
