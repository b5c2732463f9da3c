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

/** The title of the row with the ratios of Reeve's reviews a second. */
export const againstOthers = 'the same of Reeve, against each of the others in the same round';

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
  const table = aligned([
    head,
    ...rows.map(({ title, unit, ...figures }) => [
      title,
      ...([figures.baseline, figures.reeve, figures.gatekeeper, figures.kyverno] as const).map((value) =>
        value === undefined ? '-' : `${number(value)}${unit === 'x' ? 'x' : ` ${unit}`}`,
      ),
    ]),
  ]);
  return [table, ...rows.flatMap(goalLine)].join('\n\n');
}

/** The second half of the goal of the row `throughput`. */
function goalLine({ title, gatekeeper }: PeerRow): readonly string[] {
  if (title !== againstOthers || gatekeeper === undefined) return [];
  const is = gatekeeper > 1 ? 'met' : 'missed';
  return [
    `The goal of reviews a second is also to be ahead of Gatekeeper in the same round: ${number(gatekeeper)}x, so it is ${is}.`,
  ];
}

function number(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) >= 1000 ? 4 : 3 });
}
