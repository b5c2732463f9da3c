// What admission asks of others while it decides, and what it answers when they are late, wrong or broken.
import { describe, expect, test } from 'vitest';
import type { HandlerPorts } from '../../src/admission/handler.ts';
import type { Right } from '../../src/policy/terms/review.ts';
import type { ClusterSnapshot } from '../../src/policy/compile/snapshot.ts';
import { namespaceObject, reviewJson, secretObject, type Response } from '../support/reviews.ts';
import { knownNamespace, snapshotOf } from '../support/engine.ts';
import { type TestWebhook, webhookOfEachTest, askedReview } from '../support/test-webhook.ts';

const startWebhook = webhookOfEachTest();
let target: TestWebhook | undefined;
const never = new Promise<never>(() => undefined);

async function start(
  snapshot: ClusterSnapshot | undefined,
  ports: Partial<HandlerPorts> = {},
): Promise<TestWebhook> {
  target = await startWebhook(snapshot, ports);
  return target;
}

async function ask(path: string, body: string): Promise<Response> {
  if (target === undefined) throw new Error('no webhook has been started');
  return await askedReview(target, path, body);
}

const secretRules = {
  match: { namespaceSelector: { matchLabels: { tier: 'team' } } },
  secrets: { forbiddenTypes: ['example.com/forbidden'], defaults: { labels: { tier: 'team' } } },
};
const secret = reviewJson(secretObject({ type: 'example.com/forbidden' }));

describe('a namespace that the snapshot does not know', () => {
  test('a namespace that the snapshot does not know is read from the cluster', async () => {
    const asked: string[] = [];
    await start(snapshotOf({ 'secret-rules': secretRules }), {
      namespaces: {
        find: (name) => {
          asked.push(name);
          return Promise.resolve(knownNamespace(name, { tier: 'team' }));
        },
      },
    });
    expect((await ask('/validate', secret)).status).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect((await ask('/mutate', secret)).patchType).toBe('JSONPatch');
    expect(asked).toEqual(['team-a', 'team-a']);
  });

  test.each([
    ['is unknown to all', () => Promise.resolve(undefined)],
    ['cannot be looked up', () => Promise.reject(new Error('c4n4ry'))],
  ])('%s gets 503 inside the review', async (_name, find) => {
    await start(snapshotOf({ 'secret-rules': secretRules }), { namespaces: { find } });
    for (const path of ['/validate', '/mutate']) {
      expect((await ask(path, secret)).status).toMatchObject({
        code: 503,
        reason: 'ServiceUnavailable',
        message: 'namespace team-a is not known',
      });
    }
    expect(target?.observer.decisions).toMatchObject([
      { decision: 'unavailable' },
      { decision: 'unavailable' },
    ]);
  });

  test('a lookup that takes too long gets 504 inside the review', async () => {
    await start(snapshotOf({ 'secret-rules': secretRules }), { namespaces: { find: () => never } });
    expect((await ask('/validate?timeout=1s', secret)).status).toMatchObject({
      code: 504,
      reason: 'Timeout',
    });
  });

  test('no rule is judged when the time is over after a lookup', async () => {
    const clock = { time: 0, now: () => new Date(), monotonic: () => clock.time };
    const { observer } = await start(snapshotOf({ 'secret-rules': secretRules }), {
      clock,
      namespaces: {
        find: (name) => {
          clock.time += 60_000;
          return Promise.resolve(knownNamespace(name, { tier: 'team' }));
        },
      },
    });
    expect((await ask('/validate', secret)).status).toMatchObject({ code: 504, reason: 'Timeout' });
    expect(observer.decisions).toMatchObject([{ overBudget: false }]);
  });

  test('an excluded namespace and a namespace without rules need no lookup', async () => {
    await start(snapshotOf({ 'secret-rules': secretRules }), {
      namespaces: { find: () => Promise.reject(new Error('asked')) },
    });
    const excluded = reviewJson(secretObject({}, { namespace: 'kube-system' }));
    expect((await ask('/validate', excluded)).allowed).toBe(true);
    expect((await ask('/mutate', excluded)).allowed).toBe(true);
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r', namespace: 'team-a' },
    };
    expect((await ask('/validate', reviewJson(role))).allowed).toBe(true);
  });
});

describe('rights', () => {
  const provides = {
    match: { namespaceSelector: { matchLabels: { tier: 'team' } } },
    contents: {
      roleBindings: [
        {
          name: 'b',
          roleRef: { kind: 'ClusterRole', name: 'edit' },
          subjects: [{ kind: 'Group', name: 'g' }],
        },
      ],
    },
  };
  const steering = reviewJson(namespaceObject('team-a', { labels: { tier: 'team' } }));

  test.each([
    ['yes', true],
    ['no', false],
    ['unknown', false],
  ] as const)('the answer %s: allowed is %s', async (answer, allowed) => {
    const asked: Right[] = [];
    await start(snapshotOf({ provides, other: { ...provides } }), {
      access: {
        mayDo: (requester, right) => {
          expect(requester.username).toBe('alice');
          asked.push(right);
          return Promise.resolve(answer);
        },
      },
    });
    const response = await ask('/validate', steering);
    expect(response.allowed).toBe(allowed);
    expect(new Set(asked.map(({ resource, name }) => `${resource}/${name}`))).toEqual(
      new Set(['namespacepolicies/provides', 'namespacepolicies/other']),
    );
    const causes = allowed
      ? undefined
      : [{ reason: 'FieldValueForbidden' }, { reason: 'FieldValueForbidden' }];
    expect(response.status?.details['causes']).toEqual(
      causes?.map((cause) => expect.objectContaining(cause) as unknown),
    );
  });

  test('a failed access review counts as no answer, and no answer means no right', async () => {
    await start(snapshotOf({ provides }), { access: { mayDo: () => Promise.reject(new Error('c4n4ry')) } });
    const { status } = await ask('/validate', steering);
    expect(status?.code).toBe(403);
    expect(JSON.stringify(status)).not.toContain('c4n4ry');
  });

  test('an access review that takes too long gets 504', async () => {
    await start(snapshotOf({ provides }), { access: { mayDo: () => never } });
    expect((await ask('/validate?timeout=1s', steering)).status?.code).toBe(504);
  });
});

describe('internal errors', () => {
  function broken(): ClusterSnapshot {
    const snapshot = snapshotOf({ 'secret-rules': secretRules });
    return {
      ...snapshot,
      namespace: () => {
        throw new TypeError('c4n4ry');
      },
    };
  }

  test('an internal error refuses inside the review, is counted, and quotes nothing', async () => {
    const { observer } = await start(broken());
    for (const path of ['/validate', '/mutate']) {
      const response = await ask(path, secret);
      expect(response).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } });
      expect(JSON.stringify(response)).not.toContain('c4n4ry');
    }
    expect(observer.errors).toHaveLength(2);
    expect(observer.decisions).toMatchObject([{ decision: 'error' }, { decision: 'error' }]);
  });

  test('an internal error after a lookup refuses inside the review, too', async () => {
    const found = knownNamespace('team-a', { tier: 'team' });
    const unreadable = Object.defineProperty({ ...found }, 'metadata', {
      get: () => {
        throw new TypeError('c4n4ry');
      },
    });
    const { observer } = await start(snapshotOf({ 'secret-rules': secretRules }), {
      namespaces: { find: () => Promise.resolve(unreadable) },
    });
    const response = await ask('/validate', secret);
    expect(response).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } });
    expect(JSON.stringify(response)).not.toContain('c4n4ry');
    expect(observer.errors).toHaveLength(1);
  });

  test('an internal error before a review is decoded gets 500, is counted, and quotes nothing', async () => {
    const { client, observer } = await start(undefined, {
      snapshot: () => {
        throw new TypeError('c4n4ry');
      },
    });
    const answer = await client.post('/validate', secret);
    expect(answer.code).toBe(500);
    expect(answer.body).not.toContain('c4n4ry');
    expect(observer.errors).toHaveLength(1);
  });
});

test('a request before the policies are loaded gets 503 with Retry-After', async () => {
  const { client } = await start(undefined);
  expect(await client.post('/validate', secret)).toMatchObject({
    code: 503,
    headers: { 'retry-after': '1' },
  });
});

test('policies that cost too much refuse the request and are counted', async () => {
  const { observer } = await start(
    snapshotOf({ 'secret-rules': secretRules }, [knownNamespace('team-a', { tier: 'team' })]),
    {
      evaluationUnits: 0,
    },
  );
  expect((await ask('/validate', secret)).status).toMatchObject({ code: 504, reason: 'Timeout' });
  expect((await ask('/mutate', secret)).status).toMatchObject({ code: 504, reason: 'Timeout' });
  expect(observer.decisions).toMatchObject([{ overBudget: true }, { overBudget: true }]);
});

describe('the budget of a review', () => {
  const expression = 'lists.range(300).all(x, lists.range(300).all(y, x + y >= 0))';
  const dear = { validations: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name, expression })) };
  const namespace = reviewJson(namespaceObject('team-a'));

  test('the budget of a review counts work, so a busy machine does not spend it', async () => {
    let time = 0;
    const clock = { now: () => new Date(), monotonic: () => (time += 300) };
    await start(snapshotOf({ 'secret-rules': secretRules }, [knownNamespace('team-a', { tier: 'team' })]), {
      clock,
    });
    expect((await ask('/validate?timeout=30s', secret)).status).not.toMatchObject({ code: 504 });
  });

  test('the budget of a review names the policy that uses it up, with its cost', async () => {
    await start(snapshotOf({ dear, cheap: { validations: [{ name: 'a', expression: 'true' }] } }));
    const { status } = await ask('/validate', namespace);
    expect(status?.code).toBe(504);
    expect(status?.message).toMatch(
      /costs more than the 2,500,000 units of one request, most of it for policy dear \(2,[\d,]* units\): ask/,
    );
  });

  test('the budget of a review blames the machine and no policy when the answer is due before the budget is used up', async () => {
    let time = 0;
    const clock = { now: () => new Date(), monotonic: () => (time += 500) };
    const { observer } = await start(snapshotOf({ dear }), { clock });
    const { status } = await ask('/validate?timeout=2s', namespace);
    expect(status).toMatchObject({ code: 504, reason: 'Timeout' });
    expect(status?.message).toMatch(
      /^the webhook is short of processor time, so the timeout of this request/,
    );
    expect(observer.decisions).toMatchObject([{ decision: 'unavailable', overBudget: false, policies: [] }]);
  });
});

describe('the texts for users', () => {
  test('a refusal lists every violation in one Status', async () => {
    await start(
      snapshotOf({
        strict: { namespaces: { required: { labels: { team: {}, env: { values: ['dev'] } } } } },
      }),
    );
    const { status } = await ask(
      '/validate',
      reviewJson(namespaceObject('team-a', { labels: { env: 'x\u001b[31m\n' } })),
    );
    expect(status).toMatchObject({
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      details: {
        name: 'team-a',
        kind: 'namespaces',
        causes: [
          { field: 'metadata.labels["team"]', reason: 'FieldValueRequired' },
          { field: 'metadata.labels["env"]', reason: 'FieldValueInvalid' },
        ],
      },
    });
    expect(status?.message).toContain('policy strict, namespaces.required');
    expect(status?.message).not.toContain('\u001b');
  });

  test('warnings are single lines of at most 256 characters', async () => {
    const labels = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`l${index}`, { values: ['a'.repeat(60)] }]),
    );
    await start(
      snapshotOf({ soft: { validationActions: ['Warn', 'Audit'], namespaces: { required: { labels } } } }),
    );
    const nasty = Object.fromEntries(
      Object.keys(labels).map((key) => [key, `\u0000\r\n\u202e${'é'.repeat(300)}`]),
    );
    const response = await ask('/validate', reviewJson(namespaceObject('team-a', { labels: nasty })));
    expect(response.allowed).toBe(true);
    expect(response.warnings?.length).toBeGreaterThan(0);
    for (const warning of response.warnings ?? []) {
      expect(Array.from(warning).length).toBeLessThanOrEqual(256);
      expect(warning).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
    expect(Object.keys(response.auditAnnotations ?? {})).toEqual(['violations']);
    expect(target?.observer.decisions[0]?.rules).toContainEqual({
      policy: 'soft',
      rule: 'namespaces.required',
      action: 'Audit',
    });
  });
});
