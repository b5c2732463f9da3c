// Measures the weight of src (files, lines, exports, the files of each journey) and of test (lines). `npm run check -- --figures` prints it.
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { filesUnder, type SourceFile } from './source-files.ts';

/**
 * Limits may fall and must not rise. The first two leave room for a few rules and commands. docs/architecture.md holds the limits
 * of the journeys.
 */
const limits = { files: 491, lines: 78_960, exports: 2470, testLines: 114_280 };

export interface Figures {
  readonly files: number;
  readonly lines: number;
  readonly exports: number;
  readonly testLines: number;
}

const exported =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const|enum) (?<name>\w+)/gmu;

/** The names that a file of src exports. */
export function exportsOf({ text }: SourceFile): readonly string[] {
  return [...new Set([...text.matchAll(exported)].map(({ groups }) => groups?.['name'] ?? ''))];
}

export function figuresOf(files: readonly SourceFile[]): Figures {
  const code = files.filter(isSource);
  return {
    files: code.length,
    lines: sum(code.map(linesOf)),
    exports: sum(code.map((file) => exportsOf(file).length)),
    testLines: sum(files.filter(isTest).map(linesOf)),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function linesOf({ text }: SourceFile): number {
  return text.split('\n').length - 1;
}

/** One line for each figure above its limit, and for each export of src that no other file imports. */
export function weightProblems(files: readonly SourceFile[], most: Figures = limits): readonly string[] {
  const figures = figuresOf(files);
  const heavy = (['files', 'lines', 'exports'] as const).filter((name) => figures[name] > most[name]);
  const imported = importedNames(files);
  const { testLines } = figures;
  return [
    ...heavy.map((name) => `src: ${figures[name]} ${name}, at most ${most[name]} (test/checks/figures.ts)`),
    ...(testLines > most.testLines
      ? [`test: ${testLines} lines, at most ${most.testLines} (test/checks/figures.ts)`]
      : []),
    ...files
      .filter((file) => isSource(file) && !leftOutOfImages.includes(file.path))
      .flatMap((file) => {
        const names = imported.get(file.path) ?? new Set();
        if (names.has('*')) return [];
        return exportsOf(file)
          .filter((name) => !names.has(name))
          .map((name) => `${file.path}: no file imports ${name}, so it needs no export`);
      }),
  ];
}

/** The build of the image puts this file in place of another one. */
const leftOutOfImages: readonly string[] = ['src/cli/up-left-out.ts'];

function isSource({ path }: SourceFile): boolean {
  return path.startsWith('src/') && path.endsWith('.ts');
}

function isTest({ path }: SourceFile): boolean {
  return path.startsWith('test/') && path.endsWith('.ts');
}

/** By file. `*` stands for an import of the whole module, from which any name can be taken. */
function importedNames(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>();
  const note = (from: string, module: string, names: readonly string[]): void => {
    const path = posix.join(posix.dirname(from), module);
    all.set(path, new Set([...(all.get(path) ?? []), ...names]));
  };
  for (const { path, text } of files) {
    for (const [, names = '', module = ''] of text.matchAll(/\{([^{}]*)\}\s*from\s*'(\.[^']*)'/gu))
      note(path, module, names.split(',').map(importedName));
    for (const [, module = ''] of text.matchAll(/(?:\* as \w+ from |import\()\s*'(\.[^']*)'/gu))
      note(path, module, ['*']);
  }
  return all;
}

function importedName(text: string): string {
  return (
    text
      .replace(/^\s*type\s/u, '')
      .trim()
      .split(/\s/u)[0] ?? ''
  );
}

if (import.meta.main) {
  const { files, lines, exports, testLines } = figuresOf([...filesUnder('src'), ...filesUnder('test')]);
  process.stdout.write(`src: ${files} files, ${lines} lines, ${exports} exports\ntest: ${testLines} lines\n`);
  const page = readFileSync('docs/journeys.md', 'utf8');
  for (const [, journey, count] of page.matchAll(/^## (.*)\n\n(\d+) files/gmu))
    process.stdout.write(`${journey}: ${count} files\n`);
}
