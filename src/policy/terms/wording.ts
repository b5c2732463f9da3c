// Words values, numbers of things and lists of namespaces for the sentences of messages.
import { clipped } from '../../base/text.ts';

const maxListed = 5;
/** The API server cuts warnings at 256 characters, and the number at the end must not be lost. */
const maxListLength = 160;

/** Returns the text in quotes, shortened and printable. */
export function quoted(text: string): string {
  return `"${clipped(text)}"`;
}

/** `1 namespace`, `3 namespaces`. */
export function counted(count: number, thing: 'namespace' | 'object'): string {
  return `${count} ${plural(count, thing)}`;
}

export function plural(count: number, thing: 'namespace' | 'object'): string {
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

/** A binding is known by its id, `SecurityIntentBinding/shop/no-egress`, which names the kind. */
export function shownName(policy: string, kind = 'policy'): string {
  return policy.includes('/') ? policy.replace('/', ' ') : `${kind} ${policy}`;
}
