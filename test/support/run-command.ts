// Runs a command of Reeve in this process, and returns what it prints.
import { BatchedOutput } from '../../src/observe/log.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { ProgramIo } from '../../src/cli/command.ts';
import { readCommand } from '../../src/cli/commands.ts';

const fixtureTime = new Date('2026-11-23T08:00:00Z');

export interface CommandGiven extends Partial<Omit<ProgramIo, 'stdin' | 'clock'>> {
  readonly stdin?: string;
  readonly clock?: Partial<Clock>;
  /** Default: the time of most fixtures. */
  readonly now?: Date | 'today';
}

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

const logOutput = new BatchedOutput(2);

/** What a command has in a process without a terminal. */
export function ioOf(printed: { stdout: string; stderr: string }, given: CommandGiven = {}): ProgramIo {
  const { stdin = '', now = fixtureTime, clock, ...others } = given;
  return {
    stdout: (text) => (printed.stdout += text),
    stderr: (text) => (printed.stderr += text),
    stdin: () => Promise.resolve(stdin),
    nextLine: () => Promise.resolve(''),
    ask: undefined,
    onSignal: () => undefined,
    logOutput,
    isTerminal: false,
    showsProgress: false,
    program: 'reeve',
    processMs: () => 0,
    clock: { ...systemClock, ...(now === 'today' ? {} : { now: () => now }), ...clock },
    ...others,
  };
}

/** A wrong command line prints its problems, as the program does. */
export async function runCommand(
  args: readonly string[],
  given: CommandGiven = {},
): Promise<Printed & { readonly code: number }> {
  const command = await readCommand(args, {});
  if (command.kind === 'help') return { code: 0, stdout: command.text, stderr: '' };
  if (command.kind === 'wrong')
    return { code: command.code, stdout: '', stderr: command.problems.join('\n') };
  const printed = { stdout: '', stderr: '' };
  const code = await command.run(ioOf(printed, given));
  return { code, ...printed };
}
