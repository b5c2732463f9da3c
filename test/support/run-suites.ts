// Runs `reeve test` in this process, and returns what it prints.
import { systemClock } from '../../src/base/clock.ts';
import { runTest } from '../../src/cli/commands/test.ts';
import { readCommand } from '../../src/cli/command-line.ts';

export async function reeveTest(args: readonly string[], now = new Date('2026-11-23T08:00:00Z')) {
  const command = await readCommand(['test', ...args], {});
  if (command.kind !== 'test') throw new Error(JSON.stringify(command));
  const printed = { stdout: '', stderr: '' };
  const code = await runTest(command.settings, command.positionals, {
    stdout: (text) => (printed.stdout += text),
    stderr: (text) => (printed.stderr += text),
    clock: { ...systemClock, now: () => now },
    onSignal: () => undefined,
    isColored: false,
  });
  return { code, ...printed };
}
