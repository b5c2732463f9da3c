// Tests the initial state of the whole sandbox, which the contract tests leave out.
import { test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { makeKeys } from '../../cluster/pki.ts';
import { eventually } from '../../support/eventually.ts';
import { HttpsClient } from '../../support/https-client.ts';

test('the initial namespaces have the service account default', async () => {
  const { server, authority } = await makeKeys();
  const sandbox = await startSandbox({ tls: { ...server, caPem: authority.certPem }, customKinds: [] });
  const client = new HttpsClient(Number(new URL(sandbox.url).port), authority.certPem);
  const headers = { authorization: `Bearer ${sandbox.adminToken}` };
  const path = '/api/v1/serviceaccounts?fieldSelector=metadata.name%3Ddefault';
  try {
    const namespaces = async (): Promise<readonly string[]> => {
      const { body } = await client.call({ method: 'GET', path, headers });
      const { items } = JSON.parse(body) as { items: readonly { metadata: { namespace: string } }[] };
      return items.map(({ metadata }) => metadata.namespace);
    };
    await eventually(namespaces).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
  } finally {
    client.close();
    await sandbox.close();
  }
});
