// Runs a command of the command line in this process, with the answer that a person types to its question.
import { systemClock } from '../../../src/base/clock.ts';
import { readCommand, type Command } from '../../../src/cli/command-line.ts';
import { runTool, type ToolIo } from '../../../src/cli/tools.ts';
import type { Output } from '../../support/serve-process.ts';

export interface CommandRun extends Output {
  /** The questions, each with its end `: `. */
  readonly questions: readonly string[];
}

/** `answer`: undefined if there is no terminal. */
export async function runCommand(args: readonly string[], answer?: string): Promise<CommandRun> {
  const command = await readCommand(args, {});
  const questions: string[] = [];
  const printed = { stdout: '', stderr: '' };
  const ask = (question: string): Promise<string> => {
    questions.push(question);
    return Promise.resolve(answer ?? '');
  };
  const io = {
    stdout: (text: string) => (printed.stdout += text),
    stderr: (text: string) => (printed.stderr += text),
    stdin: () => Promise.resolve(''),
    ask: answer === undefined ? undefined : ask,
    clock: systemClock,
    onSignal: () => undefined,
    isTerminal: false,
    showsProgress: false,
  };
  return { code: await run(command, io), ...printed, questions };
}

async function run(command: Command, io: ToolIo): Promise<number> {
  switch (command.kind) {
    case 'up':
    case 'run':
    case 'serve':
    case 'help':
    case 'wrong':
      throw new Error(JSON.stringify(command));
    default:
      return await runTool(command, io);
  }
}
