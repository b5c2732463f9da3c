// `npm run bench:peers`: measures Reeve beside other programs that do parts of the same work, in one run on one machine.
//
//   --only=ID  this measurement only: servers, creates or bindings
//   --save     writes bench/peers.json and the table of docs/performance.md
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openContext } from '../context.ts';
import { peersFile, performancePageFile } from '../results-page.ts';
import type { BenchContext } from '../row.ts';
import { measureBindings, measureCreates } from './peer-planes.ts';
import { measureServers } from './peer-servers.ts';
import type { PeerResults, PeerRow } from './peers-table.ts';
import { peerPrograms } from './peer-programs.ts';

const root = join(import.meta.dirname, '..', '..', '..');

const measurements: Readonly<Record<string, (context: BenchContext) => Promise<readonly PeerRow[]>>> = {
  servers: measureServers,
  creates: measureCreates,
  bindings: measureBindings,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    save: { type: 'boolean', default: false },
  },
});
const unknown = values.only.find((id) => !Object.hasOwn(measurements, id));
if (unknown !== undefined)
  throw new Error(`there is no measurement ${unknown}: ${Object.keys(measurements).join(', ')}`);
const chosen = Object.entries(measurements).filter(
  ([id]) => values.only.length === 0 || values.only.includes(id),
);

const opened = await openContext(false);
try {
  const { context } = opened;
  const rows: PeerRow[] = [];
  for (const [id, measure] of chosen) {
    context.print(`\n${id}`);
    const measured = await measure(context);
    for (const row of measured) context.print(JSON.stringify(row));
    rows.push(...measured);
  }
  if (values.save) save(await withVersions(context, rows));
} finally {
  await opened[Symbol.asyncDispose]();
}

async function withVersions(context: BenchContext, rows: readonly PeerRow[]): Promise<PeerResults> {
  const saved = JSON.parse(readFileSync(peersFile, 'utf8')) as PeerResults;
  const [gatekeeper, kyverno] = [
    await peerPrograms('gatekeeper', context.print),
    await peerPrograms('kyverno', context.print),
  ];
  const kept = saved.rows.filter(({ title }) => rows.every((row) => row.title !== title));
  return {
    versions: { gatekeeper: gatekeeper.version, kyverno: kyverno.version },
    rows: [...rows, ...kept],
  };
}

function save(results: PeerResults): void {
  // Four digits are more than the noise allows.
  const short = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value;
  writeFileSync(peersFile, `${JSON.stringify(results, short, 2)}\n`);
  const { path, text } = performancePageFile();
  writeFileSync(join(root, path), text);
}
