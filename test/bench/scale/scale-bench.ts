// `npm run bench -- --scale`: simulates clusters of up to 200,000 namespaces, and compares docs/operate/scale.md with the result.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageWithTables, scalePage, scaleTables } from './scale-page.ts';

/** Prints the tables. Returns true when the page has them, or when `isSaving` has written them. */
export function benchScale(isSaving: boolean): boolean {
  const path = join(import.meta.dirname, '..', '..', '..', scalePage);
  const tables = scaleTables();
  process.stdout.write(`${tables}\n`);
  const page = readFileSync(path, 'utf8');
  const wanted = pageWithTables(page, tables);
  if (page === wanted) return true;
  if (isSaving) writeFileSync(path, wanted);
  else process.stderr.write(`${scalePage} has other figures: npm run bench -- --scale --save\n`);
  return isSaving;
}
