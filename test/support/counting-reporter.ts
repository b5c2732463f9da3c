// Prints one last line that counts the tests, so that a script can read the result of a run.
import type { Reporter, TestModule } from 'vitest/node';
import { imageNotice } from '../image/setup.ts';
import { rigNotice } from '../node/support/rig-setup.ts';
import { clusterNotice } from './control-plane.ts';
import { filesToRepeat, noteRepeated, type RepeatedFile } from './repeated-files.ts';

class CountingReporter implements Reporter {
  /** A run that is ended early must not lose the errors that it has found. */
  onTestModuleEnd(module: TestModule): void {
    for (const { file, error } of failedFiles([module])) process.stdout.write(`failed: ${file}: ${error}\n`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const repeated = noteFailedFiles(modules, unhandledErrors.length > 0);
    // Files that run once more are counted then.
    const counts = countsOf(modules.filter(({ relativeModuleId }) => !repeated.has(relativeModuleId)));
    const notices = new Set(
      modules.flatMap(({ project }) => {
        const { cluster, rig, image } = project.getProvidedContext();
        return [clusterNotice(cluster), rigNotice(rig), imageNotice(image)];
      }),
    );
    for (const notice of notices) if (notice !== undefined) process.stdout.write(`${notice}\n`);
    for (const name of repeated) process.stdout.write(`runs once more at the end: ${name}\n`);
    const failed = counts.failed + unhandledErrors.length;
    process.stdout.write(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped\n`);
  }
}

function countsOf(modules: readonly TestModule[]): Record<'passed' | 'failed' | 'skipped', number> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const module of modules) {
    if (module.errors().length > 0) counts.failed += 1;
    // An error before the first test of a block skips all tests of the block.
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      counts[state === 'pending' ? 'skipped' : state] += 1;
    }
  }
  return counts;
}

/** Returns the paths of the files that run once more, which only `.ci/run` asks for. */
function noteFailedFiles(modules: readonly TestModule[], hasOtherErrors: boolean): ReadonlySet<string> {
  const path = process.env['REEVE_REPEAT_LATER'];
  const files = path === undefined ? [] : filesToRepeat(failedFiles(modules), hasOtherErrors);
  if (path !== undefined) noteRepeated(path, files);
  return new Set(files.map(({ file }) => file));
}

function failedFiles(modules: readonly TestModule[]): readonly RepeatedFile[] {
  return modules
    .filter((module) => !module.ok())
    .map((module) => {
      const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
      const tests = [...module.children.allTests('failed')].flatMap((test) => test.result().errors ?? []);
      const [first] = [...module.errors(), ...suites, ...tests];
      const error = (first?.message ?? 'no error').split('\n')[0] ?? '';
      return { project: module.project.name, file: module.relativeModuleId, error: error.slice(0, 300) };
    });
}

// oxlint-disable-next-line import/no-default-export -- vitest loads a reporter from the default export of its file
export default CountingReporter;
