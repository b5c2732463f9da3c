// What `reeve import` reads from a cluster: all kinds of the tool, and of Secrets the content of those that are needed.
import { expect, test } from 'vitest';
import type { ClusterConnection } from '../../../src/app/cluster-connection.ts';
import { KubeError } from '../../../src/base/kube-error.ts';
import { readForImport, withSecrets } from '../../../src/cli/input/import-input.ts';
import { noProgress } from '../../../src/cli/output/progress.ts';
import { importerOf } from '../../../src/importers/importers.ts';
import { guessedPlural } from '../../../src/base/text.ts';
import type { KubeRequest } from '../../../src/kube/http/client.ts';

const notFound = new KubeError({ code: 404, reason: 'NotFound', retryable: false });
const forbidden = new KubeError({ code: 403, reason: 'Forbidden', retryable: false });

const list = { apiVersion: 'v1', kind: 'AnyList', metadata: { resourceVersion: '1' } };

function cluster(answers: Readonly<Record<string, object>>) {
  const requests: KubeRequest[] = [];
  const connection = {
    discovery: {
      find: (_version: string, kind: string) =>
        Promise.resolve({ plural: guessedPlural(kind), namespaced: true }),
    },
    client: {
      request: (request: KubeRequest) => {
        requests.push(request);
        const answer = answers[request.path] ?? { ...list, items: [] };
        return answer instanceof KubeError ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
  } as unknown as ClusterConnection;
  return { connection, requests };
}

const tenants = {
  ...list,
  items: [{ metadata: { name: 'oil', uid: '1', resourceVersion: '1' }, spec: { owners: [] } }],
};

test('every kind of the group is read in the first version that serves it, so that none is dropped silently', async () => {
  const versions = ['v1', 'v1beta2', 'v1beta1'].map((version) => ({
    groupVersion: `capsule.clastix.io/${version}`,
  }));
  const tenant = { name: 'tenants', kind: 'Tenant' };
  const { connection } = cluster({
    '/apis/capsule.clastix.io': { preferredVersion: versions[0], versions },
    '/apis/capsule.clastix.io/v1': { resources: [{ name: 'pools', kind: 'Pool' }] },
    '/apis/capsule.clastix.io/v1beta1': { resources: [tenant] },
    '/apis/capsule.clastix.io/v1beta2': {
      resources: [tenant, { name: 'tenants/status', kind: 'Tenant' }, { name: 'newkinds', kind: 'NewKind' }],
    },
    '/apis/capsule.clastix.io/v1beta2/tenants': tenants,
    '/apis/capsule.clastix.io/v1beta2/newkinds': forbidden,
  });
  const { objects, unread } = await readForImport(connection, importerOf('capsule'), noProgress);
  expect(objects.map(({ kind, apiVersion }) => `${apiVersion ?? ''} ${kind ?? ''}`)).toEqual([
    'capsule.clastix.io/v1beta2 Tenant',
  ]);
  expect(unread).toEqual([{ kind: 'NewKind', reason: 'this account may not read it' }]);
});

test('a tool whose group is not served has no objects', async () => {
  const { connection, requests } = cluster({ '/apis/rbacmanager.reactiveops.io': notFound });
  expect(await readForImport(connection, importerOf('rbac-manager'), noProgress)).toEqual({
    objects: [],
    unread: [],
  });
  expect(requests.map(({ path }) => path)).not.toContain('/apis/rbacmanager.reactiveops.io/v1beta1');
});

test('the metadata of all Secrets is read, and the content of the sources of shares', async () => {
  const secret = { metadata: { name: 'a', namespace: 'b', uid: '1', resourceVersion: '1' }, type: 'Opaque' };
  const { connection, requests } = cluster({ '/api/v1/namespaces/b/secrets/a': secret });
  await readForImport(connection, importerOf('reflector'), noProgress);
  const asked = requests.find(({ path }) => path === '/api/v1/secrets');
  expect(asked?.accept).toContain('PartialObjectMetadata');
  const read = await withSecrets(connection, [{ namespace: 'b', name: 'a' }]);
  expect(read.objects).toMatchObject([{ kind: 'Secret', type: 'Opaque' }]);
});
