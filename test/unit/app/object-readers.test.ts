// Which collections are listed for the objects of a provider.
import { expect, test } from 'vitest';
import { ownedReaderOf } from '../../../src/app/object-readers.ts';
import type { ClusterConnection } from '../../../src/app/cluster-connection.ts';
import type { ProviderId } from '../../../src/policy/terms/provider-id.ts';
import { FakeApiServer, json } from '../../support/fake-api-server.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

test.each<[ProviderId, string, string]>([
  ['NamespacePolicy/p', '/api/v1/resourcequotas', 'reeve.dev/namespacepolicy=p'],
  [
    'SecurityIntentBinding/shop/p',
    '/api/v1/namespaces/shop/resourcequotas',
    'reeve.dev/securityintentbinding=p',
  ],
])('the objects of %s are listed at %s', async (provider, path, label) => {
  const empty = {
    apiVersion: 'v1',
    kind: 'ResourceQuotaList',
    metadata: { resourceVersion: '1' },
    items: [],
  };
  const client = new FakeApiServer(new VirtualClock(), () => json(empty));
  const reader = ownedReaderOf(
    { client } as Pick<ClusterConnection, 'client'> as ClusterConnection,
    () => 'resourcequotas',
  );
  const kind = { type: { apiVersion: 'v1', kind: 'ResourceQuota' }, name: '' };
  for await (const object of reader.listOwned(provider, kind, new AbortController().signal))
    expect(object).toBeUndefined();
  expect(client.requests.map((request) => request.path)).toEqual([path]);
  expect(client.requests[0]?.query?.['labelSelector']).toContain(label);
});
