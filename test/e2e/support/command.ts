// Runs a command of the command line in this process, with the answer that a person types to its question.
import { runCommand as runHere } from '../../support/run-command.ts';
import type { Output } from '../../support/serve-process.ts';

export interface CommandRun extends Output {
  /** The questions, each with its end `: `. */
  readonly questions: readonly string[];
}

/** `answer`: undefined if there is no terminal. */
export async function runCommand(args: readonly string[], answer?: string): Promise<CommandRun> {
  const questions: string[] = [];
  const ask = (question: string): Promise<string> => {
    questions.push(question);
    return Promise.resolve(answer ?? '');
  };
  const run = await runHere(args, { ask: answer === undefined ? undefined : ask, now: 'today' });
  return { ...run, questions };
}
