// How a command that runs until it is stopped begins and ends, whatever comes first: a signal, a fault, or its own end.
import { describe, expect, it } from 'vitest';
import { runUntilStopped, type Running, type StopSignal } from '../../../src/cli/running.ts';
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
    endAtOnce: () => undefined,
    clock: { now: () => new Date(0), monotonic: () => this.now },
  };

  send(signal: StopSignal, at: number): void {
    this.now = at;
    this.#signal(signal);
  }
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

describe('what runs until it is stopped', () => {
  it.each([
    ['SIGTERM', 5000],
    ['SIGINT', 0],
    ['SIGHUP', 0],
  ] as const)('ends in order with %s, after a grace of %d ms', async (signal, graceMs) => {
    const terminal = new Terminal();
    const { running: program, stops } = running();
    const exit = runUntilStopped(options, terminal.io, () => Promise.resolve(program));
    terminal.send(signal, 0);
    expect(await exit).toBe(0);
    expect(stops).toEqual([{ graceMs, isHurried: false }]);
    expect(terminal.stdout).toBe('ready\n');
  });

  it('ends by itself with the exit code that it gives', async () => {
    const { running: program, stops } = running({ ended: () => Promise.resolve(3) });
    expect(await runUntilStopped(options, new Terminal().io, () => Promise.resolve(program))).toBe(3);
    expect(stops).toEqual([{ graceMs: 0, isHurried: false }]);
  });

  it('throws through what it fails with', async () => {
    const { running: program } = running({ failed: Promise.reject(new TypeError('broken')) });
    const exit = runUntilStopped(options, new Terminal().io, () => Promise.resolve(program));
    await expect(exit).rejects.toThrow('broken');
  });
});

describe('what does not come to run', () => {
  it('says why', async () => {
    const terminal = new Terminal();
    const start = (): Promise<Running> => Promise.reject(new StartError('no port'));
    expect(await runUntilStopped(options, terminal.io, start)).toBe(1);
    expect(terminal).toMatchObject({ stdout: '', stderr: 'no port\n' });
  });

  it('ends at the first signal where it heeds that', async () => {
    const terminal = new Terminal();
    const { promise, reject } = Promise.withResolvers<Running>();
    const exit = runUntilStopped(options, terminal.io, async (_, starting) => {
      starting.addEventListener('abort', () => reject(starting.reason));
      return await promise;
    });
    terminal.send('SIGTERM', 0);
    expect(await exit).toBe(0);
    expect(terminal).toMatchObject({ stdout: '', stderr: '' });
  });

  it('ends at the second signal, the echo of the first not counted', async () => {
    const terminal = new Terminal();
    const hanging = Promise.withResolvers<Running>();
    const exit = runUntilStopped(options, terminal.io, () => hanging.promise);
    terminal.send('SIGINT', 0);
    terminal.send('SIGINT', 100);
    expect(await Promise.race([exit, Promise.resolve('still starting')])).toBe('still starting');
    terminal.send('SIGINT', 600);
    expect(await exit).toBe(1);
    expect(terminal.stdout).toBe('');
  });
});
