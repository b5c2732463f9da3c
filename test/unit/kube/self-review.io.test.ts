// Questions about our own rights: what is asked, and what no answer means.
import { expect, test } from 'vitest';
import { clientOf, sendJson, startStub, statusOf, type Answering } from './stub-api-server.ts';
import { guessedPlural } from '../../../src/kube/discovery.ts';
import { createSelfReviewer } from '../../../src/kube/access-review.ts';

const { signal } = new AbortController();
const answering =
  (status: unknown): Answering =>
  (response) =>
    sendJson(response, { kind: 'SelfSubjectAccessReview', status }, 201);

test('nobody is named, and the right is sent as it is', async () => {
  const stub = await startStub(answering({ allowed: true }));
  const right = { verb: 'list', group: '', resource: 'secrets', name: 'regcred' };
  expect(await createSelfReviewer(clientOf(stub)).mayDo(right, signal)).toBe('yes');
  expect(stub.requests.map(({ path, body }) => [path, body])).toEqual([
    [
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: right },
      },
    ],
  ]);
});

test.each<[string, Answering, string]>([
  ['not allowed', answering({ allowed: false }), 'no'],
  ['not allowed, and somebody could not say', answering({ allowed: false, evaluationError: 'x' }), 'unknown'],
  ['no status', answering(undefined), 'unknown'],
  ['forbidden', (response) => sendJson(response, statusOf(403, 'Forbidden'), 403), 'unknown'],
])('%s', async (_what, answer, expected) => {
  const stub = await startStub(answer);
  const right = { verb: 'bind', group: 'rbac.authorization.k8s.io', resource: 'clusterroles', name: 'x' };
  expect(await createSelfReviewer(clientOf(stub)).mayDo(right, signal)).toBe(expected);
});

test.each([
  ['ConfigMap', 'configmaps'],
  ['NetworkPolicy', 'networkpolicies'],
  ['Ingress', 'ingresses'],
  ['Endpoints', 'endpoints'],
])('%s is most likely served as %s', (kind, plural) => {
  expect(guessedPlural(kind)).toBe(plural);
});
