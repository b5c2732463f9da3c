// Each answered review has its line in the log, however the process ends, and no reader of the log can hold the process.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { fullPipe } from '../support/full-output.ts';
import { HttpsClient } from '../support/https-client.ts';
import { namespaceObject, reviewJson } from '../support/reviews.ts';
import { folderOf, ReeveProcess, type TestFolder } from '../support/serve-process.ts';

let folder: TestFolder;

beforeAll(async () => {
  folder = await folderOf({ 'policies/none.yaml': '' });
});
afterAll(() => folder[Symbol.asyncDispose]());

const answered = 300;
const review = reviewJson(namespaceObject('team-a'));

/** Starts a server that runs `code` at SIGUSR2, and sends it reviews. */
async function busyServer(code: string, log?: number): Promise<ReeveProcess> {
  const module = `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${code} })`)}`;
  const args = [
    'serve',
    '--policies',
    folder.path,
    '--port',
    '0',
    '--probes-port',
    '0',
    '--drain-grace',
    '0s',
  ];
  const server = new ReeveProcess(args, { NODE_OPTIONS: `--import ${module}` }, log);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const client = new HttpsClient((await server.ready()).port);
  onTestFinished(() => client.close());
  for (let call = 0; call < answered; call++) expect((await client.post('/validate', review)).code).toBe(200);
  return server;
}

function decisions({ stderr }: { readonly stderr: string }): number {
  return stderr.split('\n').filter((line) => line.includes('"msg":"decision"')).length;
}

test.each([
  ['SIGTERM', 'SIGTERM', '', 0],
  ['an error that nothing catches', 'SIGUSR2', 'throw new Error()', 3],
  ['a promise that nothing catches', 'SIGUSR2', 'Promise.reject(new Error())', 3],
  ['an exit of the process', 'SIGUSR2', 'process.exit(3)', 3],
] as const)('no line of the log is lost at %s', async (_end, signal, code, exitCode) => {
  const server = await busyServer(code);
  server.kill(signal);
  const output = await server.ended();
  expect(decisions(output)).toBe(answered);
  expect(output.code).toBe(exitCode);
  if (!code.startsWith('throw')) return;
  // The error is printed after all lines that led to it.
  const lines = output.stderr.split('\n').filter((line) => !line.startsWith('  '));
  expect(lines.slice(-3)).toEqual([
    expect.stringContaining('"msg":"decision"'),
    'reeve exits after an internal error: Error',
    '',
  ]);
});

test.each([
  ['SIGTERM', 'SIGTERM', 0],
  ['an error that nothing catches', 'SIGUSR2', 3],
] as const)('a log that is not read does not keep the process alive after %s', async (_end, signal, code) => {
  await using pipe = fullPipe();
  const server = await busyServer('throw new Error()', pipe.fd);
  server.kill(signal);
  expect((await server.ended()).code).toBe(code);
});
