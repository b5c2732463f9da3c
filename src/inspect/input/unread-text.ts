// Says which kinds a command could not read.
import { clipped } from '../../base/text.ts';

/** Empty if everything could be read. Without this line, an incomplete result would look like a cluster in order. */
export function unreadText(unread: readonly { readonly kind: string }[]): string {
  const kinds = [...new Set(unread.map(({ kind }) => clipped(kind)))];
  return kinds.length === 0 ? '' : `incomplete: could not read ${kinds.join(', ')}`;
}
