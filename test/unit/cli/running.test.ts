// How a command that runs until it is stopped begins and ends, whatever comes first: a signal, a fault, or its own end.
import { describe, expect, it } from 'vitest';
import { runUntilStopped, type Running, type StopSignal } from '../../../src/cli/running.ts';
import { BatchedOutput } from '../../../src/observe/log.ts';
import { StartError } from '../../../src/base/start-error.ts';

const options = { logLevel: 'silent', drainGrace: 5000 } as const;

class Terminal {
  stdout = '';
  stderr = '';
  now = 0;
  #signal: (signal: StopSignal) => void = () => undefined;
  readonly io = {
    stdout: (text: string) => void (this.stdout += text),
    stderr: (text: string) => void (this.stderr += text),
    onSignal: (listener: (signal: StopSignal) => void) => void (this.#signal = listener),
    logOutput: new BatchedOutput(2),
    clock: { now: () => new Date(0), monotonic: () => this.now },
  };

  send(signal: StopSignal, at: number): void {
    this.now = at;
    this.#signal(signal);
  }
}

/** Runs the program, and resolves once it starts: before, its log is opened. */
async function begun(
  terminal: Terminal,
  start: (signal: AbortSignal) => Promise<Running>,
): Promise<{ readonly exit: Promise<number> }> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const exit = runUntilStopped(options, terminal.io, async (_, signal) => {
    resolve(undefined);
    return await start(signal);
  });
  await promise;
  return { exit };
}

interface Stop {
  readonly graceMs: number;
  readonly isHurried: boolean;
}

function running(parts: Partial<Running> = {}): {
  readonly stops: readonly Stop[];
  readonly running: Running;
} {
  const stops: Stop[] = [];
  const stop: Running['stop'] = async (graceMs, signal) => {
    stops.push({ graceMs, isHurried: signal.aborted });
    await Promise.resolve();
  };
  return { stops, running: { readyLine: 'ready', stop, ...parts } };
}

describe('a running program', () => {
  it.each([
    ['SIGTERM', 5000],
    ['SIGINT', 0],
    ['SIGHUP', 0],
  ] as const)('the program stops in order on %s, after a grace of %d ms', async (signal, graceMs) => {
    const terminal = new Terminal();
    const { running: program, stops } = running();
    const { exit } = await begun(terminal, () => Promise.resolve(program));
    terminal.send(signal, 0);
    expect(await exit).toBe(0);
    expect(stops).toEqual([{ graceMs, isHurried: false }]);
    expect(terminal.stdout).toBe('ready\n');
  });

  it('a program that ends by itself sets the exit code', async () => {
    const { running: program, stops } = running({ ended: () => Promise.resolve(3) });
    expect(await runUntilStopped(options, new Terminal().io, () => Promise.resolve(program))).toBe(3);
    expect(stops).toEqual([{ graceMs: 0, isHurried: false }]);
  });

  it('an error of the program reaches the caller', async () => {
    const { running: program } = running({ failed: Promise.reject(new TypeError('broken')) });
    const exit = runUntilStopped(options, new Terminal().io, () => Promise.resolve(program));
    await expect(exit).rejects.toThrow('broken');
  });
});

describe('a program that does not start', () => {
  it('the reason is printed to stderr, with exit code 3', async () => {
    const terminal = new Terminal();
    const start = (): Promise<Running> => Promise.reject(new StartError('no port'));
    expect(await runUntilStopped(options, terminal.io, start)).toBe(3);
    expect(terminal).toMatchObject({ stdout: '', stderr: 'no port\n' });
  });

  it('a start that observes the signal ends at the first signal', async () => {
    const terminal = new Terminal();
    const { promise, reject } = Promise.withResolvers<Running>();
    const { exit } = await begun(terminal, async (starting) => {
      starting.addEventListener('abort', () => reject(starting.reason));
      return await promise;
    });
    terminal.send('SIGTERM', 0);
    expect(await exit).toBe(0);
    expect(terminal).toMatchObject({ stdout: '', stderr: '' });
  });

  it('a signal that comes while the log is opened ends the command without a start', async () => {
    const terminal = new Terminal();
    const exit = runUntilStopped(options, terminal.io, () => Promise.reject(new TypeError('started')));
    terminal.send('SIGTERM', 0);
    expect(await exit).toBe(0);
    expect(terminal).toMatchObject({ stdout: '', stderr: '' });
  });

  it('a start ends at the second signal, and an echo of the first one does not count', async () => {
    const terminal = new Terminal();
    const hanging = Promise.withResolvers<Running>();
    const { exit } = await begun(terminal, () => hanging.promise);
    terminal.send('SIGINT', 0);
    terminal.send('SIGINT', 100);
    expect(await Promise.race([exit, Promise.resolve('still starting')])).toBe('still starting');
    terminal.send('SIGINT', 600);
    expect(await exit).toBe(1);
    expect(terminal.stdout).toBe('');
  });
});
