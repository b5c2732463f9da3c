// Prints one last line that counts the tests, so that a script can read the result of a run.
import type { Reporter, TestModule } from 'vitest/node';
import { imageNotice } from '../image/setup.ts';
import { rigNotice } from '../node/support/rig-setup.ts';
import { clusterNotice } from './control-plane.ts';

class CountingReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed += 1;
      // An error before the first test of a block skips all tests of the block.
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') counts.passed += 1;
        else if (state === 'failed') counts.failed += 1;
        else counts.skipped += 1;
      }
    }
    const notices = new Set(
      modules.flatMap(({ project }) => {
        const { cluster, rig, image } = project.getProvidedContext();
        return [clusterNotice(cluster), rigNotice(rig), imageNotice(image)];
      }),
    );
    for (const notice of notices) if (notice !== undefined) process.stdout.write(`${notice}\n`);
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  }
}

// oxlint-disable-next-line import/no-default-export -- vitest loads a reporter from the default export of its file
export default CountingReporter;
