// The state of a cluster: what is listed for which need, and what a refused list means.
import { expect, test } from 'vitest';
import type { ClusterConnection } from '../../../src/app/cluster-connection.ts';
import { KubeError } from '../../../src/base/kube-error.ts';
import { readCluster } from '../../../src/cli/input/cluster-input.ts';
import type { Need } from '../../../src/inspect/input/cluster-state.ts';
import { guessedPlural } from '../../../src/base/text.ts';
import type { KubeRequest } from '../../../src/kube/http/client.ts';

const secretType = { apiVersion: 'v1', kind: 'Secret' };
const namespaceType = { apiVersion: 'v1', kind: 'Namespace' };

function refused(code: number, reason: string): KubeError {
  return new KubeError({ code, reason, retryable: false });
}

interface Answers {
  /** By path: items of a list, an object, or an error. */
  readonly [path: string]: readonly object[] | object | KubeError;
}

function cluster(answers: Answers, unserved: readonly string[] = []) {
  const requests: KubeRequest[] = [];
  const connection = {
    description: 'https://127.0.0.1',
    discovery: {
      find: (_version: string, kind: string) =>
        Promise.resolve(
          unserved.includes(kind) ? undefined : { plural: guessedPlural(kind), namespaced: true },
        ),
    },
    client: {
      request: (request: KubeRequest) => {
        requests.push(request);
        const answer = answers[request.path] ?? [];
        if (answer instanceof KubeError) return Promise.reject(answer);
        if (!Array.isArray(answer)) return Promise.resolve(answer);
        const metadata = { resourceVersion: '1' };
        return Promise.resolve({ apiVersion: 'v1', kind: 'AnyList', metadata, items: answer });
      },
    },
  } as unknown as ClusterConnection;
  const read = async (...needs: readonly Need[]) => await readCluster(connection, { needs }, {});
  return { read, requests, connection };
}

const meta = (name: string, namespace?: string) => ({
  name,
  uid: name,
  resourceVersion: '1',
  ...(namespace === undefined ? {} : { namespace }),
});

test('each need lists its kinds once, in pages, whatever needs share', async () => {
  const { read, requests } = cluster({});
  await read('namespaces', 'rbac', 'provided', 'secrets', 'own-secrets');
  expect(requests.map(({ path }) => path).sort()).toEqual(
    [
      '/api/v1/configmaps',
      '/api/v1/limitranges',
      '/api/v1/namespaces',
      '/api/v1/resourcequotas',
      '/api/v1/secrets',
      '/api/v1/secrets',
      '/api/v1/serviceaccounts',
      '/apis/about.k8s.io/v1alpha1/clusterproperties',
      '/apis/about.k8s.io/v1beta1/clusterproperties',
      '/apis/apps/v1/deployments',
      '/apis/networking.k8s.io/v1/networkpolicies',
      '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      '/apis/rbac.authorization.k8s.io/v1/rolebindings',
      '/apis/rbac.authorization.k8s.io/v1/roles',
    ].sort(),
  );
  expect(requests.every(({ query }) => query?.['limit'] === '500')).toBe(true);
});

test('the content of Secrets is read of our own copies alone', async () => {
  const { read, requests } = cluster({});
  await read('secrets', 'own-secrets');
  const lists = requests.filter(({ path }) => path === '/api/v1/secrets');
  expect(lists.map(({ query, accept }) => [query?.['labelSelector'], accept])).toEqual([
    [undefined, 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'],
    ['app.kubernetes.io/managed-by=reeve', 'application/json'],
  ]);
});

test('the sources of shares are read one by one, and one that is missing is no error', async () => {
  const share = (name: string) => ({
    metadata: meta(name),
    spec: { source: { namespace: 'reeve-shared', name } },
  });
  const { read } = cluster({
    '/apis/reeve.dev/v1alpha1/secretshares': ['a', 'b', 'c'].map(share),
    '/api/v1/namespaces/reeve-shared/secrets/a': { metadata: meta('a', 'reeve-shared'), data: { k: 'eA==' } },
    '/api/v1/namespaces/reeve-shared/secrets/b': refused(404, 'NotFound'),
    '/api/v1/namespaces/reeve-shared/secrets/c': refused(403, 'Forbidden'),
  });
  const state = await read('providers', 'sources');
  expect(state.find(secretType, 'reeve-shared', 'a')).toMatchObject({ data: { k: 'eA==' } });
  expect(state.find(secretType, 'reeve-shared', 'b')).toBeUndefined();
  expect(state.unread).toEqual([{ kind: 'Secret reeve-shared/c', reason: 'this account may not read it' }]);
});

test('the source of a share in files is read as well', async () => {
  const path = '/api/v1/namespaces/reeve-shared/secrets/new';
  const { connection, requests } = cluster({ [path]: { metadata: meta('new', 'reeve-shared') } });
  const share = {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'SecretShare',
    metadata: { name: 'new' },
    spec: { source: { namespace: 'reeve-shared', name: 'new' } },
  };
  const state = await readCluster(connection, { needs: ['sources'], added: [share] }, {});
  expect(requests.map((request) => request.path)).toContain(path);
  expect(state.find(secretType, 'reeve-shared', 'new')).toBeDefined();
});

test('a refused list is unread, and never counts as "there are none"', async () => {
  const state = await cluster({ '/api/v1/namespaces': refused(403, 'Forbidden') }).read('namespaces');
  expect(state.unread).toEqual([{ kind: 'Namespace', reason: 'this account may not read it' }]);
  expect(state.isServed(namespaceType)).toBe(true);
});

test('a list of a kind that is not served is empty', async () => {
  const state = await cluster({}, ['Namespace']).read('namespaces');
  expect(state.unread).toEqual([]);
  expect(state.isServed(namespaceType)).toBe(false);
});

test('a refused list is named once, however often its kind is listed', async () => {
  const answers = { '/api/v1/secrets': refused(403, 'Forbidden') };
  const state = await cluster(answers).read('secrets', 'own-secrets');
  expect(state.unread).toEqual([{ kind: 'Secret', reason: 'this account may not read it' }]);
});

test('a list of a kind that the sandbox does not store is empty', async () => {
  const answers = { '/apis/apps/v1/deployments': refused(501, 'NotImplemented') };
  expect((await cluster(answers).read('namespaces')).unread).toEqual([]);
});

test.each([
  [404, 'NotFound'],
  [501, 'NotImplemented'],
])('a list that is refused with %i (%s) is of a kind that is not served', async (code, reason) => {
  const state = await cluster({ '/api/v1/namespaces': refused(code, reason) }).read('namespaces');
  expect(state.unread).toEqual([]);
  expect(state.isServed(namespaceType)).toBe(false);
});

test.each([
  [0, 'ECONNREFUSED'],
  [401, 'Unauthorized'],
])('a list that is refused with %i (%s) ends the command', async (code, reason) => {
  const reading = cluster({ '/api/v1/namespaces': refused(code, reason) }).read('namespaces');
  await expect(reading).rejects.toThrow(reason);
});

test('the flags of the Deployments say which kinds are listed', async () => {
  const args = ['run', '--role=reconciler', '--resource-kind=v1/Pod', '--namespace=n'];
  const labels = { 'app.kubernetes.io/part-of': 'reeve' };
  const deployment = {
    metadata: { ...meta('reeve', 'n'), labels },
    spec: { template: { spec: { containers: [{ args }] } } },
  };
  const { read, requests } = cluster({ '/apis/apps/v1/deployments': [deployment] });
  const { install } = await read('provided');
  expect(install).toMatchObject({ isAssumed: false, namespace: 'n' });
  expect(requests[0]?.query).toMatchObject({ labelSelector: 'app.kubernetes.io/part-of=reeve' });
  expect(requests.map(({ path }) => path)).toContain('/api/v1/pods');
  expect(requests.map(({ path }) => path)).not.toContain('/api/v1/configmaps');
});
