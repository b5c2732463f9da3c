// Tests which request for objects a path stands for, and which paths are refused.
import { describe, expect, it } from 'vitest';
import { unstoredKinds } from '../../../../src/sandbox/kinds/unstored-kinds.ts';
import { RunningServer, type Action } from './running-server.ts';

const json = { 'content-type': 'application/json' };
const merge = { 'content-type': 'application/merge-patch+json' };

describe('requests for objects', () => {
  it.each<readonly [string, string, Record<string, string>, object]>([
    ['GET', '/api/v1/secrets', {}, { verb: 'list', namespace: undefined, name: undefined }],
    ['GET', '/api/v1/namespaces/a/secrets/b', {}, { verb: 'get', namespace: 'a', name: 'b' }],
    ['HEAD', '/api/v1/namespaces/a/secrets/b', {}, { verb: 'get' }],
    ['GET', '/api/v1/secrets?watch=1', {}, { verb: 'watch' }],
    ['GET', '/api/v1/secrets?watch=false', {}, { verb: 'list' }],
    ['GET', '/api/v1/namespaces/a?watch=1', {}, { verb: 'get', name: 'a', namespace: undefined }],
    ['GET', '/api/v1/namespaces/a/status', {}, { verb: 'get', subresource: 'status', name: 'a' }],
    ['PUT', '/api/v1/namespaces/a/finalize', json, { verb: 'update', subresource: 'finalize' }],
    ['POST', '/api/v1/namespaces/a/secrets', json, { verb: 'create', namespace: 'a', body: {} }],
    [
      'POST',
      '/api/v1/namespaces/a/serviceaccounts/b/token',
      json,
      { verb: 'create', subresource: 'token', name: 'b' },
    ],
    [
      'PATCH',
      '/apis/reeve.dev/v1alpha1/secretshares/a%20b',
      merge,
      { verb: 'patch', patchType: 'merge', name: 'a b' },
    ],
    ['DELETE', '/apis/reeve.dev/v1alpha1/secretshares/a', json, { verb: 'delete' }],
    ['DELETE', '/api/v1/namespaces/a/secrets/', json, { verb: 'deletecollection' }],
  ])('%s %s', async (method, path, headers, request) => {
    await using server = await RunningServer.start();
    const body = headers === json || headers === merge ? '{}' : undefined;
    const agent = { 'user-agent': 'kubectl/v1.32.4 (linux/amd64)' };
    expect((await server.ask(method, path, { ...headers, ...agent }, body)).code).toBe(200);
    expect(server.requests).toMatchObject([{ ...request, agent: 'kubectl', user: { username: 'ann' } }]);
    expect(server.records).toHaveLength(1);
  });

  it('a request is recorded with the object it is about', async () => {
    await using server = await RunningServer.start();
    await server.ask('DELETE', '/api/v1/namespaces/a/secrets/b?dryRun=All');
    expect(server.records).toMatchObject([
      {
        user: 'ann',
        verb: 'delete',
        path: '/api/v1/namespaces/a/secrets/b',
        group: '',
        resource: 'secrets',
        namespace: 'a',
        name: 'b',
        code: 200,
        dryRun: true,
      },
    ]);
  });
});

describe('paths that are refused', () => {
  it.each<readonly [string, string, number]>([
    ['GET', '/nothing', 404],
    ['GET', '/apis/none.test', 404],
    ['GET', '/apis/none.test/v1', 404],
    ['GET', '/apis/none.test/v1/things', 404],
    ['GET', '/apis/reeve.dev/v9/secretshares', 404],
    ['GET', '/api/v1/things', 404],
    ['GET', '/api/v1/secrets/a', 404],
    ['GET', '/api/v1/namespaces/a/namespaces', 404],
    ['GET', '/api/v1/namespaces/a/secrets/b/status', 404],
    ['GET', '/apis/authentication.k8s.io/v1/selfsubjectreviews/a', 405],
    ['GET', '/openapi/v3/api/v9', 404],
    ['GET', '/openapi/v4', 404],
    ['GET', '/api/v1/namespaces/a/pods/b/log', 501],
    ['POST', '/api/v1/namespaces/a/pods/b/eviction', 501],
    ['GET', '/api/v1/nodes', 501],
    ['GET', '/apis/apps/v1/deployments', 501],
    ['POST', '/apis/apps/v1/namespaces/a/deployments', 501],
    ['PATCH', '/apis/apps/v1/namespaces/a/deployments/b/scale', 501],
    ['POST', '/apis/apps/v1/deployments', 405],
    ['POST', '/api/v1/namespaces/a/pods/b/log', 405],
    ['GET', '/api/v1/namespaces/a/pods/b/none', 404],
    ['GET', '/api/v1/namespaces/a/nodes', 404],
    ['GET', '/apis/apps/v1beta1/deployments', 404],
    ['GET', '/apis/metrics.k8s.io/v1/pods', 404],
    ['GET', '/api/v1/namespaces/a/secrets/b/scale', 404],
    ['PUT', '/api/v1/namespaces/a/secrets', 405],
    ['POST', '/api/v1/namespaces/a/secrets/b', 405],
    ['POST', '/api/v1/secrets', 405],
    ['DELETE', '/api/v1/namespaces', 405],
    ['DELETE', '/api/v1/namespaces/a/status', 405],
    ['OPTIONS', '/api/v1/namespaces', 405],
    ['GET', '/apis/authentication.k8s.io/v1/selfsubjectreviews', 405],
    ['POST', '/version', 405],
  ])('%s %s: %i', async (method, path, code) => {
    await using server = await RunningServer.start(undefined, undefined, unstoredKinds);
    const answer = await server.ask(method, path, json);
    expect(answer.json).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code });
    expect(answer.code).toBe(code);
    if (code === 501) expect(answer.json['message']).toMatch(/: not served by the sandbox$/);
    expect(server.requests).toEqual([]);
    expect(server.faults).toEqual([]);
  });

  it('a missing right is reported before any other error', async () => {
    await using server = await RunningServer.start();
    const headers = { authorization: `Bearer ${server.tokens.issue({ username: 'eve', groups: [] })}` };
    const { code, json: status } = await server.ask('POST', '/api/v1/namespaces/a/pods/b/exec', headers, '{');
    expect(code).toBe(403);
    expect(status).toMatchObject({
      reason: 'Forbidden',
      message:
        'pods "b" is forbidden: User "eve" cannot create resource "pods/exec" in API group "" in the namespace "a"',
      details: { name: 'b', kind: 'pods' },
    });
  });
});

describe('the right that a request requires', () => {
  it.each<readonly [string, string, Action]>([
    [
      'GET',
      '/api/v1/namespaces/a',
      { verb: 'get', group: '', resource: 'namespaces', namespace: 'a', name: 'a' },
    ],
    ['GET', '/version/', { verb: 'get', path: '/version' }],
    [
      'GET',
      '/api/v1/namespaces/a/secrets?fieldSelector=type%3Dx,metadata.name%3Db&watch=true',
      { verb: 'watch', group: '', resource: 'secrets', namespace: 'a' },
    ],
    [
      'GET',
      '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Db',
      { verb: 'list', group: '', resource: 'secrets', namespace: 'a', name: 'b' },
    ],
    [
      'GET',
      String.raw`/api/v1/secrets?fieldSelector=type!%3Da\,metadata.name%3Db`,
      { verb: 'list', group: '', resource: 'secrets' },
    ],
    [
      'GET',
      '/api/v1/secrets?fieldSelector=metadata.name!%3Db',
      { verb: 'list', group: '', resource: 'secrets' },
    ],
    [
      'POST',
      '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Db',
      { verb: 'create', group: '', resource: 'secrets', namespace: 'a' },
    ],
  ])('%s %s', async (method, path, expected) => {
    const actions: Action[] = [];
    await using server = await RunningServer.start(undefined, (_, action) => actions.push(action) > 0);
    await server.client.call({ method, path });
    expect(actions).toEqual([expected]);
  });
});
