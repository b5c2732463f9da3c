// The flag --init of `reeve test`: writes a first suite for each path, and never over a file.
import { counted } from '../../base/text.ts';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { errorCode } from '../../base/kube-error.ts';
import type { Clock } from '../../base/clock.ts';
import { firstSuite, type SuitePlace } from '../../inspect/suites/first-suite.ts';
import { renderFileProblem } from '../../state/yaml-files.ts';
import { findInstall } from '../input/find-install.ts';

interface InitIo {
  readonly stderr: (text: string) => void;
  readonly clock: Pick<Clock, 'now'>;
}

/** Returns the exit code: 0 if a suite was written for each path, otherwise 1. */
export async function runInit(paths: readonly string[], io: InitIo): Promise<number> {
  const codes: number[] = [];
  for (const path of paths) codes.push(await initialize(path, io));
  return Math.max(...codes);
}

async function initialize(path: string, { stderr, clock }: InitIo): Promise<number> {
  const place = await placeOf(path);
  const suite = await firstSuite(place, { findInstall, now: clock.now() });
  if (!suite.ok) {
    for (const problem of suite.problems)
      stderr(
        problem.file === place.file
          ? `${place.file} was not written: ${problem.message}\n`
          : `${renderFileProblem(problem)}\n`,
      );
    return 1;
  }
  const refusal = await written(place.file, suite.text);
  if (refusal !== undefined) {
    stderr(`${place.file} was not written: ${refusal}\n`);
    return 1;
  }
  stderr(`${place.file}: ${counted(suite.tests, 'test')} written\n`);
  return 0;
}

/** `kubectl apply -f` reads a folder without the folders in it, so a suite in `tests` is never sent to the API server. */
async function placeOf(path: string): Promise<SuitePlace> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return { file: join(path, 'tests', 'suite.yaml'), policies: ['..'] };
  const name = basename(path);
  return {
    file: join(dirname(path), 'tests', `${basename(name, extname(name))}.yaml`),
    policies: [`../${name}`],
  };
}

/** Returns why the file was not written. */
async function written(file: string, text: string): Promise<string | undefined> {
  try {
    await mkdir(dirname(file), { recursive: true });
  } catch (error) {
    return `its folder cannot be created (${errorCode(error) ?? 'unknown error'})`;
  }
  try {
    await writeFile(file, text, { flag: 'wx' });
    return undefined;
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    return code === 'EEXIST'
      ? 'it exists already, and --init never overwrites a file; --update rewrites what its tests expect'
      : `the system refuses it (${code})`;
  }
}
