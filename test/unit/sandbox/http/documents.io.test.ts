// Tests the documents that are not about objects: version, probes, discovery and OpenAPI.
import { describe, expect, it, test } from 'vitest';
import { resources, RunningServer } from './running-server.ts';

async function read(path: string, accept = 'application/json') {
  await using server = await RunningServer.start();
  return await server.ask('GET', path, { accept });
}

const every = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const reeve = { groupVersion: 'reeve.dev/v1alpha1', version: 'v1alpha1' };

it.each(['/healthz', '/livez', '/readyz', '/readyz/'])('%s answers ok', async (path) => {
  expect(await read(path)).toMatchObject({ code: 200, body: 'ok' });
});

it('/version answers with the version of the API', async () => {
  const { json } = await read('/version');
  expect(json).toMatchObject({ major: '1', minor: '36', gitVersion: 'v1.36.0-reeve-sandbox' });
});

it('/openapi/v2 is an empty document', async () => {
  expect(await read('/openapi/v2')).toMatchObject({ code: 200, body: '' });
});

describe('discovery, group by group', () => {
  it('/api lists the versions of the core group', async () => {
    expect((await read('/api')).json).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  });

  it('/apis lists the groups', async () => {
    const { json } = await read('/apis');
    expect(json).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
    const groups = json['groups'] as readonly { name: string }[];
    expect(groups.map(({ name }) => name)).toEqual([
      'rbac.authorization.k8s.io',
      'reeve.dev',
      'authentication.k8s.io',
    ]);
    expect(groups[1]).toEqual({ name: 'reeve.dev', versions: [reeve], preferredVersion: reeve });
  });

  it('the path of a group lists its versions', async () => {
    expect((await read('/apis/reeve.dev')).json).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'reeve.dev',
      versions: [reeve],
      preferredVersion: reeve,
    });
  });

  it('/api/v1 lists the kinds of the core group', async () => {
    const { json } = await read('/api/v1');
    expect(json).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    const account = { namespaced: true, kind: 'ServiceAccount' };
    const space = { namespaced: false, kind: 'Namespace' };
    expect(json['resources']).toEqual([
      {
        name: 'secrets',
        singularName: 'secret',
        namespaced: true,
        kind: 'Secret',
        verbs: every,
        shortNames: [],
        categories: [],
      },
      {
        ...account,
        name: 'serviceaccounts',
        singularName: 'serviceaccount',
        verbs: every,
        shortNames: ['sa'],
        categories: [],
      },
      {
        name: 'serviceaccounts/token',
        singularName: '',
        namespaced: true,
        group: 'authentication.k8s.io',
        version: 'v1',
        kind: 'TokenRequest',
        verbs: ['create'],
      },
      {
        ...space,
        name: 'namespaces',
        singularName: 'namespace',
        verbs: every.filter((verb) => verb !== 'deletecollection'),
        shortNames: [],
        categories: [],
      },
      {
        ...space,
        name: 'namespaces/status',
        singularName: '',
        group: '',
        version: 'v1',
        verbs: ['get', 'patch', 'update'],
      },
      {
        ...space,
        name: 'namespaces/finalize',
        singularName: '',
        group: '',
        version: 'v1',
        verbs: ['update'],
      },
    ]);
  });

  it('reviews are listed with the verb create only', async () => {
    const { json } = await read('/apis/authentication.k8s.io/v1');
    expect(json['resources']).toMatchObject([
      { name: 'selfsubjectreviews', kind: 'SelfSubjectReview', verbs: ['create'] },
    ]);
  });
});

it('aggregated discovery lists all groups in one answer', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const core = await read('/api', `${accept},application/json`);
  expect(core.headers['content-type']).toBe(accept);
  expect(core.json).toMatchObject({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    items: [{ metadata: {}, versions: [{ version: 'v1', freshness: 'Current' }] }],
  });
  const { json } = await read('/apis', accept);
  const items = json['items'] as readonly { metadata: object; versions: readonly object[] }[];
  expect(items[1]).toEqual({
    metadata: { name: 'reeve.dev' },
    versions: [
      {
        version: 'v1alpha1',
        freshness: 'Current',
        resources: [
          {
            resource: 'secretshares',
            responseKind: { group: 'reeve.dev', version: 'v1alpha1', kind: 'SecretShare' },
            scope: 'Cluster',
            singularResource: 'secretshare',
            verbs: every,
            shortNames: [],
            categories: ['reeve'],
            subresources: [
              {
                subresource: 'status',
                responseKind: { group: 'reeve.dev', version: 'v1alpha1', kind: 'SecretShare' },
                verbs: ['get', 'patch', 'update'],
              },
            ],
          },
        ],
      },
    ],
  });
});

it('OpenAPI offers field validation for each kind', async () => {
  const { json } = await read('/openapi/v3');
  const paths = json['paths'] as Readonly<Record<string, { serverRelativeURL: string }>>;
  expect(Object.keys(paths)).toEqual([
    'api/v1',
    'apis/rbac.authorization.k8s.io/v1',
    'apis/reeve.dev/v1alpha1',
  ]);
  for (const [path, { serverRelativeURL }] of Object.entries(paths)) {
    const document = (await read(serverRelativeURL)).json as unknown as {
      paths: Record<string, { patch: { parameters: readonly object[] } }>;
    };
    const served = resources.filter(({ group, version }) =>
      path.endsWith(group === '' ? `api/${version}` : `${group}/${version}`),
    );
    expect(Object.values(document.paths)).toMatchObject(
      served.map(({ group, version, kind }) => ({
        patch: {
          parameters: [{ name: 'fieldValidation', in: 'query' }],
          'x-kubernetes-group-version-kind': { group, version, kind },
        },
      })),
    );
  }
});

it('OpenAPI describes the fields of a kind for kubectl explain', async () => {
  const { json } = await read('/openapi/v3/api/v1');
  const schemas = (json['components'] as { schemas: Record<string, object> }).schemas;
  expect(schemas['io.k8s.api.core.v1.Secret']).toMatchObject({
    'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Secret' }],
    properties: {
      metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
    },
  });
  expect(schemas).toHaveProperty(['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']);
});

const urlOf = async (path: string): Promise<string> => {
  const { json } = await read('/openapi/v3');
  return (json['paths'] as Record<string, { serverRelativeURL: string }>)[path]?.serverRelativeURL ?? '';
};

test('an OpenAPI document with a hash may be kept by clients', async () => {
  const url = await urlOf('api/v1');
  expect(url).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{64}$/);
  const { code, headers, json } = await read(url);
  expect({ code, json }).toMatchObject({ code: 200, json: { openapi: '3.0.0' } });
  expect(headers).toMatchObject({ 'cache-control': 'public, immutable', vary: 'Accept' });
  expect(Date.parse(headers['expires'] ?? '')).toBeGreaterThan(Date.now());
});

test('redirects to the current hash when the hash is another', async () => {
  const { code, headers } = await read('/openapi/v3/api/v1?hash=00');
  expect({ code, location: headers['location'] }).toEqual({ code: 301, location: await urlOf('api/v1') });
});

test('an OpenAPI document with a hash is not kept without the hash', async () => {
  expect((await read('/openapi/v3/api/v1')).headers['cache-control']).toBe('no-cache, private');
});
