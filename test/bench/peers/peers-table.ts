// The table of peers in docs/performance.md, made from bench/peers.json.
import { aligned } from '../table.ts';

export const peersPage = 'docs/performance.md';
const [begin, end] = ['<!-- generated: peers -->', '<!-- generated: peers end -->'];

export interface PeerRow {
  readonly title: string;
  readonly unit: 'requests/s' | 'x' | 'MiB' | 'ms' | 's' | 'objects';
  /** The empty server, or a control plane without webhooks. */
  readonly baseline?: number | undefined;
  readonly reeve?: number | undefined;
  readonly gatekeeper?: number | undefined;
  readonly kyverno?: number | undefined;
}

/** What bench/peers.json holds. */
export interface PeerResults {
  readonly versions: { readonly gatekeeper: string; readonly kyverno: string };
  readonly rows: readonly PeerRow[];
}

/** Returns the page with the table between its markers replaced. */
export function pageWithPeers(page: string, table: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${peersPage} lacks the line ${begin} or ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`;
}

export function peersTable({ versions, rows }: PeerResults): string {
  const head = [
    'What',
    'Baseline',
    'Reeve',
    `Gatekeeper ${versions.gatekeeper}`,
    `Kyverno ${versions.kyverno}`,
  ];
  return aligned([
    head,
    ...rows.map(({ title, unit, ...figures }) => [
      title,
      ...([figures.baseline, figures.reeve, figures.gatekeeper, figures.kyverno] as const).map((value) =>
        value === undefined ? '-' : `${number(value)}${unit === 'x' ? 'x' : ` ${unit}`}`,
      ),
    ]),
  ]);
}

function number(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) >= 1000 ? 4 : 3 });
}
