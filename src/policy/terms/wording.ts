// How a value is put into the sentences of a verdict.
import { clipped } from '../../base/text.ts';

/** "text", short and fit to be shown. */
export function quoted(text: string): string {
  return `"${clipped(text)}"`;
}

const mostListed = 5;
/** Warnings of more than 256 characters are cut, and the number at the end must not be what is lost. */
const longestList = 160;

/** `1 namespace`, `3 namespaces`. */
export function counted(count: number, thing: 'namespace' | 'object'): string {
  return `${count} ${plural(count, thing)}`;
}

export function plural(count: number, thing: 'namespace' | 'object'): string {
  return count === 1 ? thing : `${thing}s`;
}

/** `a, b, c`; of more than five, and of long names fewer, how many more there are. */
export function listed(names: readonly string[]): string {
  const sorted = names.toSorted();
  const shown: string[] = [];
  for (const name of sorted.slice(0, mostListed)) {
    if (shown.length > 0 && [...shown, name].join(', ').length > longestList) break;
    shown.push(name);
  }
  const more = sorted.length - shown.length;
  return shown.join(', ') + (more === 0 ? '' : ` and ${more} more`);
}
