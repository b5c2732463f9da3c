// `once-more.ts FILE`: runs the test files that FILE names once more, each alone, and says which of them are flaky.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { mostFlaky, readRepeated, repeatVerdict, type RepeatedFile } from './repeated-files.ts';

const files = readRepeated(process.argv[2] ?? '');
const { lines, isWell } = repeatVerdict(files, files.length > mostFlaky ? [] : files.map(passes));
if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = isWell ? 0 : 1;

function passes({ project, file }: RepeatedFile): boolean {
  process.stdout.write(`\nonce more: ${file} (${project})\n`);
  const { REEVE_REPEAT_LATER: _, ...others } = process.env;
  // As npm does: the tests start programs of the project, and its own Node.
  const env = { ...others, PATH: `${resolve('node_modules/.bin')}:${process.env['PATH'] ?? ''}` };
  return spawnSync('vitest', ['run', '--project', project, file], { env, stdio: 'inherit' }).status === 0;
}
