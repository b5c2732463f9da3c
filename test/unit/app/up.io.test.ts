// A sandbox that does not come to run leaves neither a folder nor a server behind, and says why.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { runSettings } from '../../../src/cli/commands/run.ts';
import { readSettings } from '../../../src/cli/flags/settings.ts';
import type { Log } from '../../../src/observe/log.ts';
import { listen } from '../../../src/app/admission-server.ts';
import { startUp, type RunningUp } from '../../../src/app/up.ts';
import { freePorts } from '../../cluster/ports.ts';
import { folderOf } from '../../support/serve-process.ts';

type UpSettings = Parameters<typeof startUp>[0];

const noLog: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
  close: () => Promise.resolve(),
  dropped: () => 0,
};

let temporary = '';
let apiPort = 0;

beforeEach(async () => {
  temporary = mkdtempSync(join(tmpdir(), 'reeve-up-'));
  [apiPort = 0] = await freePorts(1);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

/** With a place of its own for temporary folders. */
async function starting(up: UpSettings, place = temporary): Promise<RunningUp> {
  vi.stubEnv('TMPDIR', place);
  return await startUp(up, noLog, {});
}

function settings(policies: string, probesPort = 0): UpSettings {
  const defaults = readSettings(runSettings, [], {});
  if (!defaults.ok) throw new Error('no defaults');
  const run = { ...defaults.values, host: '127.0.0.1', port: 0, probesPort, leaderElect: false };
  return { apiPort, policies, namespace: run.namespace, run };
}

/** The port can be bound again only if no server listens on it. */
async function expectNothingLeft(): Promise<void> {
  expect(readdirSync(temporary)).toEqual([]);
  const server = createServer();
  onTestFinished(() => void server.close());
  expect(await listen(server, apiPort, '127.0.0.1')).toBe(apiPort);
}

it('an invalid file prevents the start, and nothing is left behind', async () => {
  await using folder = await folderOf({ 'a.yaml': 'a: [' });
  await expect(starting(settings(folder.path))).rejects.toThrow('a.yaml:1:');
  await expectNothingLeft();
});

it('a missing folder for keys prevents the start, and nothing is left behind', async () => {
  await using folder = await folderOf({});
  const place = join(temporary, 'none');
  const message = `cannot make a folder in ${place} (ENOENT)`;
  await expect(starting(settings(folder.path), place)).rejects.toThrow(message);
  await expectNothingLeft();
});

it('a port in use prevents the start, and nothing is left behind', async () => {
  await using folder = await folderOf({});
  const other = createServer();
  onTestFinished(() => void other.close());
  await listen(other, 0, '127.0.0.1');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on TCP has such an address
  const { port } = other.address() as AddressInfo;
  await expect(starting(settings(folder.path, port))).rejects.toThrow(`127.0.0.1:${port}`);
  await expectNothingLeft();
});

it('nothing is left behind after a stop', async () => {
  await using folder = await folderOf({});
  const up = await starting(settings(folder.path));
  expect(readdirSync(temporary)).toHaveLength(1);
  await up.stop(0, new AbortController().signal);
  await expectNothingLeft();
});
