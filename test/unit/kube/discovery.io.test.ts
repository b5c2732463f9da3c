// Finds kinds by discovery, with as few requests as possible.
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { guessedPlural } from '../../../src/base/text.ts';
import { createDiscovery, type Discovery } from '../../../src/kube/object-writer.ts';
import { clientOf, rejectionOf, sendJson, startStub, statusOf } from './stub-api-server.ts';
import type { Answering, StubServer } from './stub-api-server.ts';

const rbac = 'rbac.authorization.k8s.io/v1';
const rbacList = {
  kind: 'APIResourceList',
  groupVersion: rbac,
  resources: [
    { name: 'roles', kind: 'Role', namespaced: true },
    { name: 'clusterroles', kind: 'ClusterRole', namespaced: false },
    { name: 'roles/odd', kind: 'Odd', namespaced: true },
    { name: 'constructor', kind: '__proto__', namespaced: true },
    null,
    { name: 7, kind: 'Seven' },
  ],
};

interface Setting {
  readonly stub: StubServer;
  readonly discovery: Discovery;
  readonly pass: (milliseconds: number) => void;
}

async function start(answer: Answering): Promise<Setting> {
  const stub = await startStub(answer);
  let now = 0;
  const discovery = createDiscovery(clientOf(stub), { monotonic: () => now });
  return { stub, discovery, pass: (milliseconds) => void (now += milliseconds) };
}

test.each([
  ['Role', { plural: 'roles', namespaced: true }],
  ['ClusterRole', { plural: 'clusterroles', namespaced: false }],
  ['__proto__', { plural: 'constructor', namespaced: true }],
  ['Odd', undefined],
  ['Seven', undefined],
  ['toString', undefined],
])('discovery finds for the kind %s the resource %j', async (kind, expected) => {
  const { stub, discovery } = await start((response) => sendJson(response, rbacList));
  expect(await discovery.find(rbac, kind)).toEqual(expected);
  expect(stub.requests.map(({ path }) => path)).toEqual(['/apis/rbac.authorization.k8s.io/v1']);
});

test.each([
  ['a list of resources that is none', { ...rbacList, resources: 'x' }],
  ['another object', statusOf(200, 'Success')],
])('a refresh answered with %s rejects, and keeps what is known', async (_, other) => {
  let answer: object = rbacList;
  const { discovery } = await start((response) => sendJson(response, answer));
  await discovery.find(rbac, 'Role');
  answer = other;
  expect(await rejectionOf(discovery.refresh(rbac))).toMatchObject({ reason: 'MalformedAnswer' });
  expect(await discovery.find(rbac, 'Role')).toBeDefined();
});

test('an empty list, which Go writes as null, has no kinds', async () => {
  const { discovery } = await start((response) => sendJson(response, { ...rbacList, resources: null }));
  expect(await discovery.find(rbac, 'Role')).toBeUndefined();
});

test('discovery of a known kind is repeated after ten minutes', async () => {
  const { stub, discovery, pass } = await start((response) => sendJson(response, rbacList));
  await discovery.find(rbac, 'Role');
  pass(599_999);
  await discovery.find(rbac, 'ClusterRole');
  expect(stub.requests).toHaveLength(1);
  pass(1);
  await discovery.find(rbac, 'Role');
  expect(stub.requests).toHaveLength(2);
});

test('a refresh asks at once, so a kind that was removed is no longer found', async () => {
  let resources = rbacList.resources;
  const { stub, discovery } = await start((response) => sendJson(response, { ...rbacList, resources }));
  expect(await discovery.find(rbac, 'Role')).toBeDefined();
  resources = [];
  expect(await discovery.find(rbac, 'Role')).toBeDefined();
  await discovery.refresh(rbac);
  expect(await discovery.find(rbac, 'Role')).toBeUndefined();
  expect(stub.requests).toHaveLength(2);
});

test('a refresh without an answer rejects, and keeps what is known', async () => {
  let isDown = false;
  const { discovery } = await start((response) => {
    if (isDown) sendJson(response, statusOf(503, 'ServiceUnavailable'), 503);
    else sendJson(response, rbacList);
  });
  await discovery.find(rbac, 'Role');
  isDown = true;
  expect(await rejectionOf(discovery.refresh(rbac))).toMatchObject({ code: 503 });
  expect(await discovery.find(rbac, 'Role')).toBeDefined();
});

test('a kind that is installed later is found within half a minute', async () => {
  let isInstalled = false;
  const { stub, discovery, pass } = await start((response) => {
    if (isInstalled) sendJson(response, { resources: [{ name: 'foos', kind: 'Foo', namespaced: true }] });
    else sendJson(response, statusOf(404, 'NotFound'), 404);
  });
  expect(await discovery.find('x.dev/v1', 'Foo')).toBeUndefined();
  isInstalled = true;
  pass(29_999);
  expect(await discovery.find('x.dev/v1', 'Foo')).toBeUndefined();
  expect(stub.requests).toHaveLength(1);
  pass(1);
  expect(await discovery.find('x.dev/v1', 'Foo')).toEqual({ plural: 'foos', namespaced: true });
});

test('callers at the same time share one answer, and each may abort', async () => {
  const { promise: held, resolve } = Promise.withResolvers<ServerResponse>();
  const { stub, discovery } = await start(resolve);
  const leaving = new AbortController();
  const first = rejectionOf(discovery.find(rbac, 'Role', leaving.signal));
  const others = [discovery.find(rbac, 'Role'), discovery.find(rbac, 'ClusterRole')];
  leaving.abort('gone');
  expect(await first).toBe('gone');
  sendJson(await held, rbacList);
  expect(await Promise.all(others)).toEqual([
    { plural: 'roles', namespaced: true },
    { plural: 'clusterroles', namespaced: false },
  ]);
  expect(stub.requests).toHaveLength(1);
});

test('an error is not cached', async () => {
  let code = 503;
  const { discovery } = await start((response) => {
    if (code === 200) sendJson(response, rbacList);
    else sendJson(response, statusOf(code, 'ServiceUnavailable'), code);
  });
  expect(await rejectionOf(discovery.find(rbac, 'Role'))).toMatchObject({ code: 503 });
  code = 200;
  expect(await discovery.find(rbac, 'Role')).toEqual({ plural: 'roles', namespaced: true });
});

test.each([
  ['ConfigMap', 'configmaps'],
  ['NetworkPolicy', 'networkpolicies'],
  ['Ingress', 'ingresses'],
  ['Endpoints', 'endpoints'],
])('the guessed resource of the kind %s is %s', (kind, plural) => {
  expect(guessedPlural(kind)).toBe(plural);
});
