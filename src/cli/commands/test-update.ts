// Writes Reeve's answers of today into suites that expect other answers: the flag --update of `reeve test`.
import { readFile, writeFile } from 'node:fs/promises';
import { errorCode } from '../../base/kube-error.ts';
import { fileUpdates } from '../../inspect/suites/update-suites.ts';
import type { RunOptions } from '../../inspect/suites/run-suites.ts';
import type { LocatedObject } from '../../state/yaml-files.ts';

/** Returns false if a file could not be written. */
export async function updateSuites(
  suites: readonly LocatedObject[],
  options: RunOptions,
  stderr: (text: string) => void,
): Promise<boolean> {
  let isWritten = true;
  for (const { file, changes, apply } of await fileUpdates(suites, options)) {
    try {
      const before = await readFile(file, 'utf8');
      const after = apply(before);
      if (after === before) continue;
      await writeFile(file, after);
      for (const change of changes) stderr(`${change}\n`);
    } catch (error) {
      stderr(`${file} was not changed: the system refuses it (${errorCode(error) ?? 'unknown error'})\n`);
      isWritten = false;
    }
  }
  return isWritten;
}
