// The test files that `.ci/run` runs once more at its end: those on real control planes and nodes that failed.
import { appendFileSync, readFileSync } from 'node:fs';

export interface RepeatedFile {
  readonly project: string;
  readonly file: string;
  /** The first error of the first run. */
  readonly error: string;
}

/** A busy machine can upset such a file although Reeve is right: it starts a dozen programs of others. */
const onRealPlanes: ReadonlySet<string> = new Set(['cluster', 'alone', 'own-planes', 'node']);

/** With more of them, something is wrong with Reeve or with the tests. */
export const mostFlaky = 3;

/** Returns the failed files of one run if all of them may run once more, else none. */
export function filesToRepeat(
  failed: readonly RepeatedFile[],
  hasOtherErrors: boolean,
): readonly RepeatedFile[] {
  const mayRepeat = !hasOtherErrors && failed.every(({ project }) => onRealPlanes.has(project));
  return mayRepeat ? failed : [];
}

/** Says how the second run ended; `passed`: of each file. */
export function repeatVerdict(
  files: readonly RepeatedFile[],
  passed: readonly boolean[],
): { readonly lines: readonly string[]; readonly isWell: boolean } {
  const lines = files.map(({ project, file, error }, index) =>
    passed[index] === true
      ? `flaky, to be mended next: ${file} (${project}) failed once: ${error}`
      : `failed twice: ${file} (${project}): ${error}`,
  );
  if (files.length <= mostFlaky) return { lines, isWell: passed.every(Boolean) };
  return { lines: [...lines, `more than ${mostFlaky} files failed once`], isWell: false };
}

export function noteRepeated(path: string, files: readonly RepeatedFile[]): void {
  appendFileSync(path, files.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

export function readRepeated(path: string): readonly RepeatedFile[] {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as RepeatedFile);
}
