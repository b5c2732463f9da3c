// How often certificates and authorities were renewed, and recovered, in front of people who must not notice.
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
