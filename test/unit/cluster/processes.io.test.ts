// Processes are ended exactly, and none outlives the process that started it, not even when that is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Component } from '../../cluster/component.ts';
import { controlPlaneRuns } from '../../cluster/dev-cluster.ts';
import { Guard } from '../../cluster/guard.ts';
import { identify, isRunning, signalProcess, startTimeOf } from '../../cluster/process-identity.ts';
import type { ProcessIdentity } from '../../cluster/process-identity.ts';
import { eventually } from '../../support/eventually.ts';
import { folderOf } from '../../support/serve-process.ts';

const holder = join(import.meta.dirname, 'hold-component.ts');

describe('startTimeOf', () => {
  const fields = Array.from({ length: 49 }, (_, index) => String(index + 4)).join(' ');

  test.for([
    ['a plain name', `7 (etcd) S ${fields}`, '22'],
    ['a name with blanks and parentheses', `7 (a) R (b) S ${fields}`, '22'],
    ['one that has ended', `7 (etcd) Z ${fields.replace(' 20 ', ' 1 ')}`, undefined],
    ['one of which some threads have still to end', `7 (etcd) Z ${fields}`, '22'],
    ['nothing', '', undefined],
  ] as const)('startTimeOf reads the start from %s', ([, stat, started]) => {
    expect(startTimeOf(stat)).toBe(started);
  });
});

test('a process with the pid of another one gets no signal', async () => {
  await using folder = await folderOf({});
  await using sleeper = await sleeperIn(folder.path);
  const reused = { ...sleeper.process, started: 'earlier' };
  expect(isRunning(reused)).toBe(false);
  expect(signalProcess(reused, 'SIGKILL')).toBe(false);
  expect(isRunning(sleeper.process)).toBe(true);
});

test('a control plane runs on when Reeve alone has ended', async () => {
  await using folder = await folderOf({});
  await using sleeper = await sleeperIn(folder.path);
  const running = { name: 'etcd', ...sleeper.process };
  const ended = { pid: running.pid, started: 'earlier' };
  expect(controlPlaneRuns([running, { name: 'reeve', ...ended }])).toBe(true);
  expect(controlPlaneRuns([running, { name: 'apiserver', ...ended }])).toBe(false);
  expect(controlPlaneRuns([{ name: 'reeve', ...sleeper.process }])).toBe(false);
  expect(controlPlaneRuns([])).toBe(false);
});

test('a component is stopped, also while it stands still', async () => {
  await using folder = await folderOf({});
  await using sleeper = await sleeperIn(folder.path);
  sleeper.component.pause();
  await sleeper.component.stop();
  expect(isRunning(sleeper.process)).toBe(false);
  expect(() => sleeper.component.pause()).toThrow('sleeper does not run');
});

test('a component writes its log, and is not started twice', async () => {
  await using folder = await folderOf({});
  await using sleeper = await sleeperIn(folder.path, 'echo hello; exec sleep 1000');
  await eventually(() => readFile(join(folder.path, 'sleeper.log'), 'utf8')).toBe('hello\n');
  await expect(sleeper.component.start(sleeper.guard, folder.path)).rejects.toThrow('sleeper runs already');
});

test('a program that is not there leaves its reason in the log', async () => {
  await using folder = await folderOf({});
  const guard = new Guard();
  const command = { name: 'nothing', program: '/nonexistent/program', args: [], cwd: folder.path };
  const component = new Component(command, folder.path);
  await component.start(guard, folder.path);
  await eventually(() => component.isRunning).toBe(false);
  await guard.end();
  expect(await readFile(join(folder.path, 'nothing.log'), 'utf8')).toContain('/nonexistent/program');
});

test('a process that holds a component takes it and its folder along when it is killed', async () => {
  await using folder = await folderOf({});
  const held = await hold(folder.path, 'guarded');
  expect(isRunning(held.watchdog)).toBe(true);
  held.holder.kill('SIGKILL');
  await eventually(() => isRunning(held.component)).toBe(false);
  await eventually(() => existsSync(folder.path)).toBe(false);
  await eventually(() => isRunning(held.watchdog)).toBe(false);
});

test('a process that holds a component leaves it running when it has released it', async () => {
  await using folder = await folderOf({});
  const held = await hold(folder.path, 'released');
  await eventually(() => isRunning(held.watchdog)).toBe(false);
  held.holder.kill('SIGKILL');
  await once(held.holder, 'exit');
  expect(isRunning(held.component)).toBe(true);
  signalProcess(held.component, 'SIGKILL');
  await eventually(() => isRunning(held.component)).toBe(false);
});

interface Sleeper extends AsyncDisposable {
  readonly component: Component;
  readonly process: ProcessIdentity;
  readonly guard: Guard;
}

async function sleeperIn(folder: string, script = 'exec sleep 1000'): Promise<Sleeper> {
  const guard = new Guard();
  const command = { name: 'sleeper', program: '/bin/sh', args: ['-c', script], cwd: folder };
  const component = new Component(command, folder);
  await component.start(guard, folder);
  if (component.process === undefined) throw new Error('the sleeper does not run');
  const dispose = async (): Promise<void> => {
    await component.stop('SIGKILL');
    await guard.end();
  };
  return { component, process: component.process, guard, [Symbol.asyncDispose]: dispose };
}

interface Held {
  readonly holder: ReturnType<typeof spawn>;
  readonly component: ProcessIdentity;
  readonly watchdog: ProcessIdentity;
}

async function hold(folder: string, mode: 'guarded' | 'released'): Promise<Held> {
  const child = spawn(process.execPath, [holder, folder, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const pids = JSON.parse(line) as { readonly component: number; readonly watchdog: number };
  const [component, watchdog] = [identify(pids.component), identify(pids.watchdog)];
  if (component === undefined) throw new Error('the component does not run');
  return { holder: child, component, watchdog: watchdog ?? { pid: pids.watchdog, started: 'and ended' } };
}
