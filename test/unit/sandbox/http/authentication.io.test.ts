// Tests tokens, client certificates, anonymous requests and impersonation.
import { Agent } from 'node:https';
import { describe, expect, it } from 'vitest';
import { authorityPem, clientPair, RunningServer, serverPair, type Action } from './running-server.ts';
import { makeKeys, userCertificate } from '../../../cluster/pki.ts';

const me = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const review = { 'content-type': 'application/json' };

async function whoIs(
  server: RunningServer,
  headers: Record<string, string | readonly string[]>,
): Promise<unknown> {
  const { code, json } = await server.ask('POST', me, { ...review, ...headers }, '{}');
  return code === 201 ? (json['status'] as { userInfo: unknown }).userInfo : { code, ...json };
}

describe('credentials', () => {
  it('a token stands for its user, who is in the group system:authenticated', async () => {
    await using server = await RunningServer.start();
    expect(await whoIs(server, {})).toEqual({ username: 'ann', groups: ['admins', 'system:authenticated'] });
    expect(server.records).toMatchObject([
      { user: 'ann', impersonatedUser: undefined, verb: 'create', code: 201 },
    ]);
  });

  it.each([['Bearer wrong'], ['bearer   '], ['Bearer wrong again']])(
    '%s is refused, even for the version',
    async (authorization) => {
      await using server = await RunningServer.start(undefined, () => true);
      const { code, json } = await server.ask('GET', '/version', { authorization });
      if (authorization === 'Bearer wrong') {
        expect({ code, reason: json['reason'] }).toEqual({ code: 401, reason: 'Unauthorized' });
        expect(server.records).toMatchObject([{ user: undefined, code: 401 }]);
      } else {
        expect(code).toBe(200);
        expect(server.records).toMatchObject([{ user: 'system:anonymous' }]);
      }
    },
  );

  it('a request without credentials is anonymous, and its refusal says so', async () => {
    const isPublic = (action: Action): boolean => 'path' in action && action.path === '/version';
    await using server = await RunningServer.start(undefined, (_, action) => isPublic(action));
    expect((await server.client.call({ path: '/version' })).code).toBe(200);
    const refused = await server.client.call({ path: '/api/v1/namespaces' });
    expect(JSON.parse(refused.body)).toMatchObject({
      code: 403,
      message:
        'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" at the cluster scope',
    });
    expect((await server.client.call({ path: '/apis' })).body).toContain(
      String.raw`forbidden: User \"system:anonymous\" cannot get path \"/apis\"`,
    );
  });

  it('a certificate of the sandbox authority stands for its user', async () => {
    const seen: unknown[] = [];
    await using server = await RunningServer.start(undefined, (user) => seen.push(user) > 0);
    const agent = new Agent({
      ca: authorityPem,
      ...clientPair('zoe', ['team-a', 'team-b']),
      keepAlive: false,
    });
    for (let round = 0; round < 2; round += 1) {
      expect((await server.client.call({ path: '/version', agent })).code).toBe(200);
    }
    const zoe = { username: 'zoe', groups: ['team-a', 'team-b', 'system:authenticated'] };
    expect(seen).toEqual([zoe, zoe]);
    agent.destroy();
  });

  it('another certificate is refused', async () => {
    await using server = await RunningServer.start(undefined, () => true);
    const { authority, userKeyPem: key } = await makeKeys();
    const forged = { key, cert: userCertificate(authority, key, 'ann', ['system:masters']) };
    for (const pair of [forged, serverPair]) {
      const agent = new Agent({ ca: authorityPem, ...pair });
      expect((await server.client.call({ path: '/version', agent })).code).toBe(401);
      agent.destroy();
    }
  });
});

describe('impersonation', () => {
  it.each<readonly [string, Record<string, string | readonly string[]>, unknown]>([
    ['a user', { 'Impersonate-User': 'bob' }, { username: 'bob', groups: ['system:authenticated'] }],
    [
      'with groups',
      { 'Impersonate-User': 'bob', 'Impersonate-Group': ['a', 'b'] },
      { username: 'bob', groups: ['a', 'b', 'system:authenticated'] },
    ],
    [
      'a service account, with its own groups',
      { 'Impersonate-User': 'system:serviceaccount:ns:robot' },
      {
        username: 'system:serviceaccount:ns:robot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      },
    ],
    [
      'a service account, with the groups that are named',
      { 'Impersonate-User': 'system:serviceaccount:ns:robot', 'Impersonate-Group': 'a' },
      { username: 'system:serviceaccount:ns:robot', groups: ['a', 'system:authenticated'] },
    ],
    [
      'nobody',
      { 'Impersonate-User': 'system:anonymous' },
      { username: 'system:anonymous', groups: ['system:unauthenticated'] },
    ],
  ])('%s', async (_title, headers, user) => {
    const isReview = (action: Action): boolean =>
      'resource' in action && action.resource === 'selfsubjectreviews';
    await using server = await RunningServer.start(undefined, (_, action) => isReview(action));
    expect(await whoIs(server, headers)).toEqual(user);
    expect(server.records[0]).toMatchObject({
      user: 'ann',
      impersonatedUser: (user as { username: string }).username,
    });
  });

  it.each<readonly [string, Record<string, string>]>([
    [
      'users "bob" is forbidden: User "eve" cannot impersonate resource "users" in API group "" at the cluster scope',
      {},
    ],
    [
      'serviceaccounts "robot" is forbidden: User "eve" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns"',
      { 'Impersonate-User': 'system:serviceaccount:ns:robot' },
    ],
    [
      'groups "g" is forbidden: User "eve" cannot impersonate resource "groups" in API group "" at the cluster scope',
      { 'Impersonate-User': 'joe', 'Impersonate-Group': 'g' },
    ],
  ])('impersonation requires a right: %s', async (message, headers) => {
    const isJoe = (action: Action): boolean => 'name' in action && action.name === 'joe';
    await using server = await RunningServer.start(undefined, (_, action) => isJoe(action));
    const authorization = `Bearer ${server.tokens.issue({ username: 'eve', groups: [] })}`;
    const { code, json } = await server.ask('GET', '/version', {
      authorization,
      'Impersonate-User': 'bob',
      ...headers,
    });
    expect({ code, message: json['message'] }).toEqual({ code: 403, message });
    expect(server.records).toMatchObject([{ user: 'eve', impersonatedUser: undefined, code: 403 }]);
  });

  it.each([
    ['Impersonate-Group', 400],
    ['Impersonate-Uid', 501],
    ['Impersonate-Extra-Foo', 501],
  ])('%s alone is refused', async (header, code) => {
    await using server = await RunningServer.start();
    expect((await server.ask('GET', '/version', { [header]: 'x' })).code).toBe(code);
  });
});
