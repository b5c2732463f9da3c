// Runs `reeve` with the arguments of this process, and reports the files of src whose functions were called.
import { Session, type Profiler } from 'node:inspector';

/** Orders of the parent process: forget the calls so far, or report their files. */
export type Order = 'forget' | 'report';

const source = new URL('../../../src/', import.meta.url);

// Loaded before the recording: calls while modules are evaluated belong to no journey.
await import('../../../src/cli/commands.ts');
await import('../../../src/cli/commands/run.ts');
await import('../../../src/cli/commands/serve.ts');

const session = new Session();
session.connect();

/** The files with calls since this function was called before. */
function takeFiles(): readonly string[] {
  let files: readonly string[] = [];
  // A session with the own thread calls back before `post` returns.
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error;
    files = result.filter(wasCalled).map(({ url }) => `src/${url.slice(source.href.length)}`);
  });
  return files.toSorted();
}

function wasCalled({ url, functions }: Profiler.ScriptCoverage): boolean {
  return url.startsWith(source.href) && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0));
}

session.post('Profiler.enable');
// From now on V8 runs no optimized code, and so it counts every call.
// https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#method-startPreciseCoverage
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('message', (order: Order) => {
  const files = takeFiles();
  process.send?.(order === 'report' ? files : []);
});
// Without the test, this process has no purpose.
process.on('disconnect', () => process.exit(1));
await import('../../../src/main.ts');
