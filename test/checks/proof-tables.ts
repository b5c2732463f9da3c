// Reads the tables of docs/security.md and docs/faults.md: every row names the tests that prove it, as `path › title`.
import { testTitles } from './test-titles.ts';

export interface ProofRow {
  /** Of the first cell, for whoever reads of a fault. */
  readonly claim: string;
  readonly tests: readonly NamedTest[];
}

interface NamedTest {
  readonly path: string;
  /** Of groups, from the outermost, and of the test; at least one. */
  readonly titles: readonly string[];
}

/** Those on which a real control plane is under test. */
const onACluster = /^test\/(?:e2e|contract)\//;
const separator = ' › ';

/** Of all tables whose last column is called `Test`. */
export function proofRows(markdown: string): readonly ProofRow[] {
  const tables = markdown.match(/(?:^\|.*\|\n)+/gm) ?? [];
  return tables.flatMap((table) => {
    const [head = [], , ...rows] = table.trimEnd().split('\n').map(cellsOf);
    return head.at(-1) === 'Test' ? rows.map(rowOf) : [];
  });
}

/** What is wrong with the row; `sourceOf` gives the text of a file, undefined where there is none. */
export function rowFaults(
  { tests }: ProofRow,
  sourceOf: (path: string) => string | undefined,
): readonly string[] {
  if (tests.length === 0) return ['it names no test'];
  const isProven = tests.some(({ path }) => onACluster.test(path));
  return [
    ...(isProven ? [] : ['none of its tests runs on a real control plane']),
    ...tests.flatMap((test) => testFaults(test, sourceOf(test.path))),
  ];
}

function testFaults({ path, titles }: NamedTest, source: string | undefined): readonly string[] {
  if (!path.endsWith('.test.ts')) return [`${path} is no file of tests`];
  if (source === undefined) return [`there is no file ${path}`];
  if (titles.length === 0) return [`${path}: no title is named`];
  const known = testTitles(source);
  return titles.filter((title) => !known.has(title)).map((title) => `${path} has no test ${title}`);
}

function cellsOf(line: string): readonly string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
}

function rowOf(cells: readonly string[]): ProofRow {
  const named = (cells.at(-1) ?? '').matchAll(/`([^`]+)`/g);
  const tests = [...named].map(([, text = '']) => {
    const [path = '', ...titles] = text.split(separator);
    return { path, titles };
  });
  return { claim: cells[0] ?? '', tests };
}
