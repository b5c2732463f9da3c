// Reads proofs.yaml: which tests prove the rows of docs/security.md and docs/faults.md.
import { parse } from 'yaml';
import { testTitles } from './test-titles.ts';

/** The pages whose rows need proofs, by the word that proofs.yaml uses for each. */
export const proofPages = { security: 'docs/security.md', faults: 'docs/faults.md' } as const;

/** One test and the rows it proves. */
export interface Proof {
  readonly path: string;
  /** The titles of the groups, from the outermost, and of the test: `group › test`. */
  readonly title: string;
  /** Each as `page: name of the row`. */
  readonly rows: readonly string[];
}

type ProofFile = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>
>;
type SourceOf = (path: string) => string | undefined;

const onARealControlPlane = /^test\/(?:e2e|contract)\//;
const separator = ' › ';

export function readProofs(text: string): readonly Proof[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of another shape fails the tests of its rows
  const file = parse(text) as ProofFile;
  return Object.entries(file).flatMap(([path, tests]) =>
    Object.entries(tests).map(([title, pages]) => ({
      path,
      title,
      rows: Object.entries(pages).flatMap(([page, names]) => names.map((name) => `${page}: ${name}`)),
    })),
  );
}

/** The rows of all tables whose first column is called Threat or Fault: the bold text of the first cell names a row. */
export function rowNames(page: string, markdown: string): readonly string[] {
  const tables = markdown.match(/(?:^\|.*\|\n)+/gm) ?? [];
  return tables.flatMap((table) => {
    const [head = [], , ...rows] = table.trimEnd().split('\n').map(cellsOf);
    if (head[0] !== 'Threat' && head[0] !== 'Fault') return [];
    return rows.map(([first = '']) => `${page}: ${/\*\*(.+?)\*\*/.exec(first)?.[1] ?? first}`);
  });
}

/** Why the tests do not prove the row. */
export function rowProblems(row: string, proofs: readonly Proof[]): readonly string[] {
  const tests = proofs.filter(({ rows }) => rows.includes(row));
  if (tests.length === 0) return ['no test proves it'];
  const isProven = tests.some(({ path }) => onARealControlPlane.test(path));
  return isProven ? [] : ['none of its tests runs on a real control plane'];
}

/** Lists the problems of the entry of a test; `sourceOf` returns the text of a file, undefined for a missing file. */
export function proofProblems(proof: Proof, known: readonly string[], sourceOf: SourceOf): readonly string[] {
  return [
    ...proof.rows.filter((row) => !known.includes(row)).map((row) => `there is no row "${row}"`),
    ...titleProblems(proof, sourceOf(proof.path)),
  ];
}

function titleProblems({ path, title }: Proof, source: string | undefined): readonly string[] {
  if (!path.endsWith('.test.ts')) return [`${path} is not a file of tests`];
  if (source === undefined) return [`there is no file ${path}`];
  const present = testTitles(source);
  return title
    .split(separator)
    .filter((part) => !present.has(part))
    .map((part) => `${path} has no title "${part}"${closest(part, present)}`);
}

/** Names the title that shares the most words: most often the same test after a rename. */
function closest(part: string, present: ReadonlySet<string>): string {
  const words = new Set(part.split(' '));
  const sharedWords = (title: string): number => title.split(' ').filter((word) => words.has(word)).length;
  const [best] = [...present].sort((a, b) => sharedWords(b) - sharedWords(a));
  return best === undefined || sharedWords(best) === 0 ? '' : `; the closest is "${best}"`;
}

function cellsOf(line: string): readonly string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
}
