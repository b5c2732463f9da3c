// Counts how often Reeve renewed and recovered certificates and authorities while people worked.
import type { Arena } from './arena.ts';

const counters = /^reeve_certificate_(?:renewals|recoveries)_total\{.*$/gm;

export async function renewalsOf({ webhooks: [webhook] }: Arena): Promise<Readonly<Record<string, number>>> {
  const lines = ((await webhook.metrics()) ?? '').match(counters) ?? [];
  return Object.fromEntries(
    lines.map((line) => {
      const [counter = '', value] = line.split(' ');
      return [counter, Number(value)] as const;
    }),
  );
}
