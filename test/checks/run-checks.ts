// `npm run check`: types, lint (with the import rules between folders), house rules, format and generated files.
// `npm run check -- --figures` prints how heavy src and test are, and checks nothing.
import { spawnSync } from 'node:child_process';

interface Check {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const checks: readonly Check[] = [
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'house rules', command: 'node', args: ['test/checks/house-rules.ts'] },
  { name: 'format', command: 'prettier', args: ['--check', '--log-level=warn', '.'] },
  { name: 'generated files', command: 'node', args: ['test/checks/generated-files.ts'] },
  { name: 'documents', command: 'node', args: ['test/checks/documents.ts'] },
];

function run({ name, command, args }: Check): boolean {
  const started = Date.now();
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  const passed = status === 0 && error === undefined;
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${passed ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)\n`);
  return passed;
}

const figures: Check = { name: 'figures', command: 'node', args: ['test/checks/figures.ts'] };
const asked = process.argv.includes('--figures') ? [figures] : checks;
const failed = asked.filter((check) => !run(check));
if (failed.length > 0) {
  process.stdout.write(`failed: ${failed.map(({ name }) => name).join(', ')}\n`);
  process.exitCode = 1;
}
