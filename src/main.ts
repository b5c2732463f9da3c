#!/usr/bin/env node
// The program `reeve`: runs the command of its arguments and sets the exit code.
import { createInterface } from 'node:readline';
import { systemClock } from './base/clock.ts';
import { errorCode } from './base/kube-error.ts';
import type { ProgramIo } from './cli/command.ts';
import { readCommand, type Command } from './cli/commands.ts';
import { cleanText } from './cli/output/clean-text.ts';
import { exitCodes } from './cli/exit-codes.ts';
import { nodeVersionProblem } from './app/shipped-files.ts';
import { BatchedOutput, traceOf } from './observe/log.ts';

const { stdout, flushed } = standardOutput();
const stderr = (text: string): void => void process.stderr.write(text);

const stderrFd = 2;
const logOutput = new BatchedOutput(stderrFd);

const processMs = (): number => {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
};

/** `flushed` waits until all is written, and returns the first error: Node.js forgets it when it opens the stream again. */
function standardOutput(): {
  readonly stdout: (text: string) => void;
  readonly flushed: () => Promise<Error | undefined>;
} {
  let lost: Error | undefined;
  const write = (text: string, then?: () => void): void =>
    void process.stdout.write(text, (error) => {
      lost ??= error ?? undefined;
      then?.();
    });
  return {
    stdout: (text) => write(text),
    flushed: () => new Promise((resolve) => write('', () => resolve(lost))),
  };
}

/** Returns all of standard input. */
async function stdin(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const part of process.stdin) text += String(part);
  return text;
}

/** Starts to read standard input at the first call. */
function lineReader(): () => Promise<string> {
  let lines: AsyncIterator<string> | undefined;
  return async () => {
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const line: IteratorResult<string, undefined> = await lines.next();
    return line.value ?? '';
  };
}

/** Undefined when no person sits at a terminal. */
function asking(): ((question: string) => Promise<string>) | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  return async (question) => {
    stdout(question);
    return await nextLine();
  };
}

const nextLine = lineReader();

function ioFor({ endsBySignal }: { readonly endsBySignal: boolean }): ProgramIo {
  return {
    stdout,
    stderr,
    stdin,
    nextLine,
    ask: endsBySignal ? undefined : asking(),
    onSignal: (listener) => {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
        process.on(signal, () => listener(signal));
    },
    logOutput,
    clock: systemClock,
    isTerminal: process.stdout.isTTY,
    showsProgress: process.stderr.isTTY,
    program: `${process.execPath} ${import.meta.filename}`,
    processMs,
  };
}

async function run(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help':
      stdout(`${command.text}\n`);
      return await printed(0);
    case 'wrong':
      for (const problem of command.problems)
        stderr(cleanText(`${problem}\n`, { isColored: false, givesCommands: false }));
      stderr(`see ${command.hint}\n`);
      return command.code;
    default: {
      const code = await command.run(ioFor(command));
      return command.endsBySignal ? code : await printed(code);
    }
  }
}

/**
 * Returns the exit code of a command whose result is what it prints, once a pipe has taken all of it: the end of the process
 * would cut it off. A closed pipe, such as that of `head`, wants no more.
 */
async function printed(code: number): Promise<number> {
  const lost = await flushed();
  if (lost === undefined || errorCode(lost) === 'EPIPE') return code;
  stderr(`cannot write to standard output: ${errorCode(lost) ?? lost.name}\n`);
  return code === exitCodes.done ? exitCodes.unknown : code;
}

/** After such an error the state is unknown, so the process ends and its supervisor starts another one. */
function fail(error: unknown): never {
  const { error: name, frames } = traceOf(error);
  // The text follows the lines that led to the error, and cannot divide a line that a full pipe has taken in part.
  logOutput.write(
    `reeve exits after an internal error: ${name}\n${frames.map((frame) => `  ${frame}\n`).join('')}`,
  );
  process.exit(exitCodes.unknown);
}

// The reader of our output may exit first. Reeve continues without it.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  stderr(`${problem}\n`);
  process.exit(exitCodes.unknown);
}

// Not awaited: the bundle is CommonJS, which starts faster, and has no await outside of functions.
readCommand()
  .then(run)
  .then((code) => process.exit(code), fail);
