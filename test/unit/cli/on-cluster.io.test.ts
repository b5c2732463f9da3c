// What a command says when the API server does not answer.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { onCluster } from '../../../src/cli/input/on-cluster.ts';

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has one
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('the server and the context are named, and no credentials', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-on-cluster-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const port = await closedPort();
  const kubeconfig = join(folder, 'config');
  const content = {
    clusters: [{ name: 'c', cluster: { server: `https://user:canary@127.0.0.1:${port}` } }],
    users: [{ name: 'u', user: { token: 'canary' } }],
    contexts: [{ name: 'prod', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'prod',
  };
  await writeFile(kubeconfig, JSON.stringify(content));
  let stderr = '';
  const say = (text: string): void => void (stderr += text);
  const code = await onCluster({ kubeconfig, context: undefined }, {}, say, async ({ client }) => {
    await client.request({ method: 'GET', path: '/version' });
    return 0;
  });
  const where = `https://127.0.0.1:${port} (the kubeconfig ${kubeconfig}, context prod)`;
  expect([code, stderr]).toEqual([3, `${where}: the API server did not answer (ECONNREFUSED)\n`]);
});
