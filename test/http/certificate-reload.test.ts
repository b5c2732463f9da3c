// New certificates go into use while connections that are open stay as they are.
import { X509Certificate } from 'node:crypto';
import { Agent } from 'node:https';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueAuthority, issueServing } from '../../src/certs/issue/issue.ts';
import { servingNames } from '../../src/certs/issue/names.ts';
import { BatchedOutput, createLog } from '../../src/observe/log.ts';
import { startWebhook, type RunningWebhook } from '../../src/app/serve.ts';
import { HttpsClient } from '../support/https-client.ts';
import { namespaceObject, reviewJson } from '../support/reviews.ts';
import { folderOf, type TestFolder } from '../support/serve-process.ts';
import { issueTestPair } from '../support/test-webhook.ts';
import { openTls } from '../support/tls-client.ts';

let folder: TestFolder;
let running: RunningWebhook;
let client: HttpsClient;
const good = reviewJson(namespaceObject('team-a'));

beforeAll(async () => {
  const { cert, key } = await issueTestPair();
  folder = await folderOf({ 'certs/tls.crt': cert, 'certs/tls.key': key, 'policies/none.yaml': '' });
  running = await startWebhook(
    {
      policies: join(folder.path, 'policies'),
      clusterState: undefined,
      host: '127.0.0.1',
      port: 0,
      probesPort: 0,
      tlsCert: join(folder.path, 'certs/tls.crt'),
      tlsKey: join(folder.path, 'certs/tls.key'),
      certsDir: undefined,
      namespace: 'reeve-system',
      sharedNamespace: ['reeve-shared'],
      excludeNamespace: [],
      evaluationBudget: 1_000_000,
      traceEndpoint: undefined,
    },
    await createLog('silent', new BatchedOutput(2)),
  );
  client = new HttpsClient(Number(new URL(running.url).port));
});
afterAll(async () => {
  client.close();
  await running.stop(0, AbortSignal.abort());
  await folder[Symbol.asyncDispose]();
});

async function servedFingerprint(): Promise<string> {
  const socket = await openTls(client.port);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

function put(name: string, content: string): void {
  const path = join(folder.path, 'certs', name);
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

test('new connections get the changed pair, and open connections stay open', async () => {
  const sockets = new Set<unknown>();
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  agent.on('free', (socket: TLSSocket) => sockets.add(socket));
  const call = () =>
    client.call({
      method: 'POST',
      path: '/validate',
      headers: { 'Content-Type': 'application/json' },
      body: good,
      agent,
    });
  expect((await call()).code).toBe(200);
  const renewed = await issueTestPair();
  put('tls.crt', renewed.cert);
  put('tls.key', renewed.key);
  await expect
    .poll(servedFingerprint, { timeout: 30_000 })
    .toBe(new X509Certificate(renewed.cert).fingerprint256);
  expect((await call()).code).toBe(200);
  expect(sockets.size).toBe(1);
  agent.destroy();

  put('tls.crt', 'not a certificate');
  expect((await client.post('/validate', good)).code).toBe(200);
  expect(await servedFingerprint()).toBe(new X509Certificate(renewed.cert).fingerprint256);
});

test('an expired certificate makes its replica not ready until there is a new one', async () => {
  const ready = async (): Promise<number> => (await fetch(`${running.probesUrl}/readyz`)).status;
  const authority = await issueAuthority(3_600_000, new Date());
  const { certPem, keyPem } = await issueServing(
    authority,
    servingNames('reeve-system', []),
    3000,
    new Date(),
  );
  put('tls.crt', certPem);
  put('tls.key', keyPem);
  await expect.poll(servedFingerprint, { timeout: 30_000 }).toBe(new X509Certificate(certPem).fingerprint256);
  await expect.poll(ready, { timeout: 30_000 }).toBe(503);
  const renewed = await issueTestPair();
  put('tls.crt', renewed.cert);
  put('tls.key', renewed.key);
  await expect.poll(ready, { timeout: 30_000 }).toBe(200);
});

test('old TLS versions are still refused after a reload', async () => {
  await expect(
    openTls(client.port, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  ).rejects.toBeInstanceOf(Error);
});
