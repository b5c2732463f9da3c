#!/usr/bin/env node
// The program `reeve`: runs the command of its arguments and sets the exit code.
import { createInterface } from 'node:readline';
import { systemClock } from './base/clock.ts';
import type { RunningIo } from './cli/running.ts';
import { readCommand, type Command } from './cli/command-line.ts';
import { nodeVersionProblem } from './cli/node-version.ts';
import { traceOf } from './observe/error-frames.ts';

const stdout = (text: string): void => void process.stdout.write(text);
const stderr = (text: string): void => void process.stderr.write(text);

const processMs = (): number => {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
};

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

const io: RunningIo = {
  stdout,
  stderr,
  onSignal: (listener) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => listener(signal));
  },
  endAtOnce: () => process.kill(process.pid, 'SIGKILL'),
  clock: systemClock,
};

/** Loads the code of one command only: otherwise every start of a Pod would load the sandbox too. */
async function run(command: Command): Promise<number> {
  switch (command.kind) {
    case 'up': {
      const { runUp } = await import('./cli/up.ts');
      const isTerminal = process.stdout.isTTY;
      const isColored = command.mayColor && isTerminal;
      const upIo = { ...io, processMs, isColored, isTerminal, nextLine };
      return await runUp(command.settings, upIo);
    }
    case 'run': {
      const { runOnCluster } = await import('./cli/run.ts');
      return await runOnCluster(command.settings, command.environment, io);
    }
    case 'serve': {
      const { runServe } = await import('./cli/serve.ts');
      return await runServe(command.settings, io);
    }
    case 'certs': {
      const { runCerts } = await import('./cli/certs.ts');
      return await runCerts(command.settings, { stdout, stderr, clock: systemClock });
    }
    case 'check': {
      const { runCheck } = await import('./cli/check.ts');
      return await runCheck(command.settings, command.environment, { stdout, stderr, clock: systemClock });
    }
    case 'uninstall': {
      const { runUninstall } = await import('./cli/uninstall.ts');
      return await runUninstall(command.settings, command.environment, { stdout, stderr, ask: asking() });
    }
    case 'help':
      stdout(`${command.text}\n`);
      return 0;
    case 'wrong':
      for (const problem of command.problems) stderr(`${problem}\n`);
      stderr(`see ${command.hint}\n`);
      return 2;
    default:
      return command satisfies never;
  }
}

/** After such an error the state is unknown, so the process ends and its supervisor starts another one. */
function fail(error: unknown): never {
  const { error: name, frames } = traceOf(error);
  stderr(`reeve exits after an internal error: ${name}\n${frames.map((frame) => `  ${frame}\n`).join('')}`);
  process.exit(1);
}

// The reader of our output may exit first. Reeve continues without it.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const problem = nodeVersionProblem(process.versions.node);
if (problem !== undefined) {
  stderr(`${problem}\n`);
  process.exit(1);
}

// Not awaited: the bundle is CommonJS, which starts faster, and has no await outside of functions.
run(readCommand()).then((code) => process.exit(code), fail);
