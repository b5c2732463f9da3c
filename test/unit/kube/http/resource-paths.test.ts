// Builds paths of the API server, also for hostile names.
import { expect, test } from 'vitest';
import { groupVersionPath, resourcePath } from '../../../../src/kube/http/https-client.ts';

test.each([
  ['v1', '/api/v1'],
  ['rbac.authorization.k8s.io/v1', '/apis/rbac.authorization.k8s.io/v1'],
  ['a/b/../c', '/apis/a/b%2F..%2Fc'],
  ['../v1', '/apis/%2E%2E/v1'],
  ['v1?x=1#y', '/api/v1%3Fx%3D1%23y'],
])('the path of the group version %s is %s', (apiVersion, path) => {
  expect(groupVersionPath(apiVersion)).toBe(path);
});

test.each([
  [{ name: 'y', namespace: 'x' }, '/api/v1/namespaces/x/secrets/y'],
  [{ namespace: 'x' }, '/api/v1/namespaces/x/secrets'],
  [{}, '/api/v1/secrets'],
  [{ name: 'y' }, '/api/v1/secrets/y'],
  [{ name: 'y', namespace: 'x', subresource: 'status' }, '/api/v1/namespaces/x/secrets/y/status'],
  [{ name: 'system:node', namespace: 'x' }, '/api/v1/namespaces/x/secrets/system%3Anode'],
  [{ name: '..', namespace: 'x' }, '/api/v1/namespaces/x/secrets/%2E%2E'],
  [{ name: '.', namespace: 'x' }, '/api/v1/namespaces/x/secrets/%2E'],
  [{ name: 'a/../b', namespace: '../..' }, '/api/v1/namespaces/..%2F../secrets/a%2F..%2Fb'],
  [{ name: '', namespace: '' }, '/api/v1/namespaces/%20/secrets/%20'],
])('the path of %j is %s', (address, path) => {
  expect(resourcePath({ apiVersion: 'v1', plural: 'secrets', ...address })).toBe(path);
});
