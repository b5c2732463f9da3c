// Runs a program to its end, and keeps everything that it prints.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface ProgramOutput {
  /** Null when a signal ended the program. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The standard input. Default: empty. */
  readonly input?: string;
  /** Ends the program after these milliseconds. */
  readonly timeout?: number;
}

/** Rejects only when the program cannot be started. The caller judges the exit code and the output. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { input = '', ...options }: ProgramOptions = {},
): Promise<ProgramOutput> {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(new Error(`${program} could not be started: is it on the PATH?`)));
    child.on('close', resolve);
  });
  // The program may end without having read its input.
  child.stdin.on('error', () => undefined).end(input);
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
