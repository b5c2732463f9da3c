// `reeve check --wait` looks again until the time is over, and says what it waits for and what still does not work.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../support/run-command.ts';

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
  let time = 0;
  const { code, stdout, stderr } = await runCommand(['check', '--kubeconfig', path, '--wait', '2m'], {
    showsProgress,
    clock: {
      monotonic: () => time,
      sleep: async (milliseconds) => void (time += await Promise.resolve(milliseconds)),
    },
  });
  rmSync(folder, { recursive: true });
  expect({ code, time, stderr }).toEqual({ code: 3, time: 120_000, stderr: talk });
  expect(stdout).toBe(
    'problem: API server: the API server did not answer (ECONNREFUSED)\nReeve does not work completely: API server (see above).\n',
  );
});
