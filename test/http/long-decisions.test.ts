// Writes of policies that take long to review, and the reviews that must not wait for them.
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { TlsPair } from '../../src/admission/http/webhook-server.ts';
import { aNamespace, aSnapshot } from '../support/engine.ts';
import { namespaceObject, policyObject, responseOf, reviewJson } from '../support/reviews.ts';
import { issueTestPair, startTestWebhook, type TestWebhook } from '../support/test-webhook.ts';

let pair: TlsPair;
let target: TestWebhook | undefined;

beforeAll(async () => {
  pair = await issueTestPair();
});
afterEach(async () => {
  await target?.close();
  target = undefined;
});

/** Compares each annotation with all others, which takes milliseconds for each namespace. */
const expression =
  'namespaceObject.metadata.?annotations.orValue({}).all(k, namespaceObject.metadata.annotations.exists(j, j == k))';
const slow = policyObject({
  match: { matchConditions: [{ name: 'slow', expression }] },
  validationActions: ['Warn'],
  validations: [{ name: 'any', expression: 'true', message: 'm' }],
});
const annotations = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`key-${index}`, '']));
const namespaces = Array.from({ length: 50 }, (_, index) => aNamespace({ name: `n-${index}`, annotations }));

/** Starts a webhook that reports when it begins to compare a policy with all namespaces. */
async function start() {
  const begun = Promise.withResolvers<void>();
  const snapshot = aSnapshot([], namespaces);
  target = await startTestWebhook(pair, {
    ...snapshot,
    namespaces: () => {
      begun.resolve();
      return snapshot.namespaces();
    },
  });
  return { ...target, begun: begun.promise };
}

test('a Namespace is answered while the review of a slow policy is under way', async () => {
  const { client, begun } = await start();
  const answers: string[] = [];
  const policy = client.post('/validate', reviewJson(slow)).then(() => answers.push('policy'));
  await begun;
  const namespace = await client.post('/validate', reviewJson(namespaceObject('shop')));
  answers.push('namespace');
  expect(responseOf(namespace.body).allowed).toBe(true);
  await policy;
  expect(answers).toEqual(['namespace', 'policy']);
});

test('a Namespace is answered before two policies that are under review', async () => {
  const { client, begun } = await start();
  const answers: string[] = [];
  const policies = ['first', 'second'].map((name) =>
    client.post('/validate', reviewJson({ ...slow, metadata: { name } })).then(() => answers.push(name)),
  );
  await begun;
  await client.post('/validate', reviewJson(namespaceObject('shop')));
  answers.push('namespace');
  await Promise.all(policies);
  expect(answers[0]).toBe('namespace');
  expect(answers.toSorted()).toEqual(['first', 'namespace', 'second']);
});

const slowest = {
  ...policyObject({
    match: {
      matchConditions: Array.from({ length: 20 }, (_, index) => ({ name: `slow-${index}`, expression })),
    },
  }),
  metadata: { name: 'slowest' },
};
const quick = { ...policyObject({ match: { names: ['shop'] } }), metadata: { name: 'quick' } };

test('a flood of slow policies by one user delays no policy of another user, and the flood learns what takes its time', async () => {
  const { client, begun } = await start();
  // The rest of the flood is refused after 2.7 s.
  const path = '/validate?timeout=6s';
  const answers: string[] = [];
  // So many that even a fast machine cannot review them all until then.
  const flood = Array.from({ length: 24 }, async () => {
    const { body } = await client.post(path, reviewJson(slowest));
    answers.push('flood');
    return responseOf(body);
  });
  await begun;
  const userInfo = { username: 'root', groups: [] };
  const other = responseOf((await client.post(path, reviewJson(quick, { userInfo }))).body);
  answers.push('other');
  expect(other.status?.code).not.toBe(503);
  // On a busy machine some decisions of the flood reach their limit before the request of the other user arrives.
  expect(answers.length).toBeLessThan(flood.length);
  const late = (await Promise.all(flood)).filter(({ status }) => status?.code === 503);
  expect(late.length).toBeGreaterThan(0);
  expect(late.length).toBeLessThan(flood.length);
  for (const { status } of late)
    expect(status).toMatchObject({
      code: 503,
      message:
        'the review of NamespacePolicy/slowest, which the same user wrote before, is not finished yet. ' +
        'Try again later; if this is frequent, make the expressions of that policy or share cheaper, or give the webhook more processor time',
    });
});
