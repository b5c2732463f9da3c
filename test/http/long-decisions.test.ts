// Writes of policies that take long to review, and the reviews that must not wait for them.
import { expect, test } from 'vitest';
import { aNamespace, aSnapshot } from '../support/engine.ts';
import { namespaceObject, policyObject, responseOf, reviewJson } from '../support/reviews.ts';
import { webhookOfEachTest } from '../support/test-webhook.ts';

const startWebhook = webhookOfEachTest();

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
  const target = await startWebhook({
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

/** What a flood takes for each look at the annotations of a namespace. No other work takes time. */
const lookMs = 10;

/** Starts with a clock that only the looks of a flood move. `flooded` resolves once the webhook knows so many requests. */
async function startWithoutTime(requests: number) {
  let time = 0;
  let known = 0;
  const flooded = Promise.withResolvers<void>();
  const get = () => {
    time += lookMs;
    return {};
  };
  const slowNamespaces = Array.from({ length: 200 }, (_, index) => {
    const metadata = { name: `n-${index}` };
    return aNamespace(Object.defineProperty(metadata, 'annotations', { enumerable: true, get }));
  });
  const snapshot = aSnapshot([], slowNamespaces);
  const target = await startWebhook(undefined, {
    clock: { now: () => new Date(), monotonic: () => time },
    snapshot: () => {
      known += 1;
      if (known === requests) flooded.resolve();
      return snapshot;
    },
  });
  return { ...target, flooded: flooded.promise };
}

const looks = [{ name: 'looks', expression: 'namespaceObject.metadata.annotations == {}' }];
const slowest = { ...policyObject({ match: { matchConditions: looks } }), metadata: { name: 'slowest' } };
const quick = { ...policyObject({ match: { names: ['shop'] } }), metadata: { name: 'quick' } };

test('a flood of slow policies by one user delays a policy of another user by single turns, and the flood learns what takes its time', async () => {
  const { client, observer, flooded } = await startWithoutTime(24);
  const flood = Array.from({ length: 24 }, async () => {
    // A decision takes 4 s, and a policy that has waited for 2.7 s is refused.
    const { body } = await client.post('/validate?timeout=6s', reviewJson(slowest));
    return responseOf(body);
  });
  await flooded;
  const userInfo = { username: 'root', groups: [] };
  const other = responseOf((await client.post('/validate', reviewJson(quick, { userInfo }))).body);
  expect(other.status?.code).not.toBe(503);
  const record = observer.decisions.find(({ name }) => name === 'quick');
  // The head of the request, its body and its decision each wait for at most one turn of the flood.
  expect(record?.milliseconds).toBeLessThanOrEqual(3 * lookMs);
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
