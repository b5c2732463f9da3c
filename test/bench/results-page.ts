// The page that shows the saved results: docs/performance.md with its tables made from bench/results.json and bench/peers.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedFile } from '../checks/crd-files.ts';
import { benchRows } from './goals.ts';
import { pageWithPeers, peersTable, type PeerResults } from './peers/peers-table.ts';
import type { Results } from './results.ts';
import { pageWithTable, performancePage, resultsTable } from './table.ts';

const root = join(import.meta.dirname, '../..');
export const resultsFile = join(root, 'bench/results.json');
export const peersFile = join(root, 'bench/peers.json');

/** Reads all files. Throws when the page has no place for a table. */
export function performancePageFile(): GeneratedFile {
  const results = JSON.parse(readFileSync(resultsFile, 'utf8')) as Results;
  const peers = JSON.parse(readFileSync(peersFile, 'utf8')) as PeerResults;
  const page = readFileSync(join(root, performancePage), 'utf8');
  const withRows = pageWithTable(page, resultsTable(benchRows, results));
  return { path: performancePage, text: pageWithPeers(withRows, peersTable(peers)) };
}
