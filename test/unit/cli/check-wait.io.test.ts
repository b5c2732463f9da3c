// `reeve check --wait` looks again until the time is over, and says what it waits for and what still does not work.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCheck } from '../../../src/cli/check.ts';
import { readCommand } from '../../../src/cli/command-line.ts';

/** For a server that refuses every connection. */
const kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:9' } }],
  users: [{ name: 'u', user: { token: 't' } }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'c',
};

test.each([
  ['a terminal shows once what the check waits for', true, 'waiting for: API server\n'],
  ['without a terminal only the results are printed', false, ''],
])('%s, and the last line names what does not work', async (_, showsProgress, talk) => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-check-'));
  const path = join(folder, 'config');
  writeFileSync(path, JSON.stringify(kubeconfig));
  const command = await readCommand(['check', '--kubeconfig', path, '--wait', '2m'], {});
  if (command.kind !== 'check') throw new Error(JSON.stringify(command));
  const printed = { stdout: '', stderr: '' };
  let time = 0;
  const code = await runCheck(command.settings, command.environment, {
    stdout: (text) => (printed.stdout += text),
    stderr: (text) => (printed.stderr += text),
    showsProgress,
    clock: {
      now: () => new Date('2026-11-23T12:00:00Z'),
      monotonic: () => time,
      sleep: async (milliseconds) => void (time += await Promise.resolve(milliseconds)),
    },
  });
  rmSync(folder, { recursive: true });
  expect({ code, time, stderr: printed.stderr }).toEqual({ code: 3, time: 120_000, stderr: talk });
  expect(printed.stdout).toBe(
    'problem: API server: the API server did not answer (ECONNREFUSED)\nReeve does not work completely: API server (see above).\n',
  );
});
