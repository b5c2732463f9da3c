// The page that shows the saved results: docs/performance.md with its table made from bench/results.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedFile } from '../../src/api/crd.ts';
import { benchRows } from './goals.ts';
import type { Results } from './results.ts';
import { pageWithTable, performancePage, resultsTable } from './table.ts';

const root = join(import.meta.dirname, '../..');
export const resultsFile = join(root, 'bench/results.json');

/** Reads both files. Throws when the page has no place for the table. */
export function performancePageFile(): GeneratedFile {
  const results = JSON.parse(readFileSync(resultsFile, 'utf8')) as Results;
  const page = readFileSync(join(root, performancePage), 'utf8');
  return { path: performancePage, text: pageWithTable(page, resultsTable(benchRows, results)) };
}
