// `npm run check`: types, lint (with the import rules between folders), house rules, format and generated files.
// `npm run check -- --figures` prints how heavy src and test are, and checks nothing.
import { runProgram } from '../support/run-program.ts';

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

/** Prints the output when the check has ended. All checks run at once, because the longest works on one core. */
async function run({ name, command, args }: Check): Promise<boolean> {
  const started = Date.now();
  const { code, stdout, stderr } = await runProgram(command, args);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${stdout}${stderr}${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)\n`);
  return code === 0;
}

const figures: Check = { name: 'figures', command: 'node', args: ['test/checks/figures.ts'] };
const asked = process.argv.includes('--figures') ? [figures] : checks;
const results = await Promise.all(asked.map(run));
const failed = asked.filter((_, index) => results[index] !== true);
if (failed.length > 0) {
  process.stdout.write(`failed: ${failed.map(({ name }) => name).join(', ')}\n`);
  process.exitCode = 1;
}
