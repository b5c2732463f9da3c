// Objects that are made to be taken for others, to meet what JavaScript inherits, or to cost time: judged like any other.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { knownNamespace, snapshotOf } from '../support/engine.ts';
import {
  bindingObject,
  namespaceObject,
  reviewJson,
  secretObject,
  type Json,
  type Response,
} from '../support/reviews.ts';
import { issueTestPair, startTestWebhook, type TestWebhook, askedReview } from '../support/test-webhook.ts';

let target: TestWebhook;
const endpoints = ['/validate', '/mutate'] as const;

beforeAll(async () => {
  const inherited = { labels: { constructor: { values: ['yes'] } }, annotations: { constructor: {} } };
  const rules = {
    namespaces: { required: { annotations: { contact: {} } } },
    validations: [
      { name: 'plain', expression: "object.metadata.annotations.all(key, !key.startsWith('forbidden'))" },
    ],
    secrets: { dockerConfig: { allowedRegistries: ['registry.example.com'] } },
    rbac: { forbiddenSubjects: ['User/guest-*'] },
  };
  const specs = {
    requested: {
      match: { names: ['requested'] },
      namespaces: { requesters: { users: ['alice@example.com'], groups: ['platform'] } },
    },
    inherited: { match: { names: ['inherited'] }, namespaces: { required: inherited } },
    defaulted: {
      match: { names: ['defaulted'] },
      namespaces: { defaults: { labels: { constructor: 'yes' }, annotations: { constructor: 'yes' } } },
      secrets: { maxBytes: 9 },
    },
    denied: { match: { names: ['denied'] }, validationActions: ['Deny'], ...rules },
    audited: { match: { names: ['audited'] }, validationActions: ['Audit'], ...rules },
  };
  const known = ['defaulted', 'denied', 'audited'].map((name) => knownNamespace(name));
  target = await startTestWebhook(await issueTestPair(), snapshotOf(specs, known), {
    access: { mayDo: () => Promise.resolve('yes') },
    // A slow machine gets the same answers.
    clock: { now: () => new Date(), monotonic: () => 0 },
  });
});
afterAll(() => target.close());

async function ask(path: string, object: Json, changes: Json = {}): Promise<Response> {
  return await askedReview(target, path, reviewJson(object, changes));
}

/** In a literal, `__proto__` would be no member of its own. */
function keyed(key: string, value: unknown): Json {
  return Object.fromEntries([[key, value]]);
}

function patchOf({ patch = '' }: Response): unknown {
  return JSON.parse(Buffer.from(patch, 'base64').toString());
}

describe('names that resemble those of the requesters', () => {
  const created = namespaceObject('requested');

  test.each([
    ['the user', { username: 'alice@example.com' }],
    ['a member of the group', { username: 'bob', groups: ['platform'] }],
  ])('%s may create the namespace', async (_name, userInfo) => {
    expect((await ask('/validate', created, { userInfo })).allowed).toBe(true);
  });

  test.each([
    ['a trailing space', 'alice@example.com ', 'platform '],
    ['a leading space', ' alice@example.com', ' platform'],
    ['a trailing line break', 'alice@example.com\n', 'platform\n'],
    ['another case', 'Alice@example.com', 'Platform'],
    ['a homoglyph', '\u0430lice@example.com', 'pl\u0430tform'],
    ['wide letters', '\uff41lice@example.com', '\uff50latform'],
    ['a trailing NUL', 'alice@example.com\u0000', 'platform\u0000'],
    ['a NUL and more', 'alice@example.com\u0000.evil', 'platform\u0000.evil'],
    ['an invisible letter', 'alice\u200b@example.com', 'plat\u200bform'],
    ['two in one', 'alice@example.com,bob', 'platform,other'],
  ])('%s is refused', async (_name, username, groupName) => {
    const { allowed, status } = await ask('/validate', created, {
      userInfo: { username, groups: [groupName] },
    });
    expect(allowed).toBe(false);
    expect(status).toMatchObject({ code: 403, details: { causes: [{ field: 'request.userInfo' }] } });
    expect(status?.message).toContain('policy requested, namespaces.requesters: ');
    expect(status?.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe.each(['__proto__', 'constructor', 'toString'])('the key %s', (key) => {
  test.each(endpoints)('POST %s accepts the key as a label and an annotation', async (path) => {
    const metadata = { labels: keyed(key, 'a'), annotations: keyed(key, 'b') };
    expect((await ask(path, namespaceObject('team-a', metadata))).allowed).toBe(true);
  });

  test.each(endpoints)('POST %s accepts the key in a Secret', async (path) => {
    const secret = secretObject({ data: keyed(key, 'MDEyMzQ1Njc4') }, { namespace: 'defaulted' });
    expect((await ask(path, secret)).allowed).toBe(true);
  });

  test.each(['data', 'stringData'])('the bytes of the key are counted in %s', async (field) => {
    const secret = secretObject({ [field]: keyed(key, 'MDEyMzQ1Njc4OQ==') }, { namespace: 'defaulted' });
    expect((await ask('/validate', secret)).status).toMatchObject({ code: 403, reason: 'Forbidden' });
  });

  test.each(endpoints)('POST %s refuses a value of the key that is not text', async (path) => {
    const bad = keyed(key, { polluted: true });
    for (const metadata of [{ labels: bad }, { annotations: bad }]) {
      expect((await ask(path, namespaceObject('team-a', metadata))).status?.code).toBe(400);
    }
    expect((await ask(path, secretObject({ data: bad }))).status?.code).toBe(400);
    expect({}).not.toHaveProperty('polluted');
  });

  test('the key stays when a default adds another key', async () => {
    const metadata = { labels: keyed(key, 'a'), annotations: keyed(key, 'b') };
    const response = await ask('/mutate', namespaceObject('defaulted', metadata));
    const added =
      key === 'constructor'
        ? []
        : ['labels', 'annotations'].map((map) => ({
            op: 'add',
            path: `/metadata/${map}/constructor`,
            value: 'yes',
          }));
    expect(response.patch === undefined ? [] : patchOf(response)).toEqual(added);
  });
});

describe('a rule on the key constructor', () => {
  test('an inherited property does not satisfy the rule', async () => {
    const { status } = await ask('/validate', namespaceObject('inherited'));
    expect(status?.details['causes']).toMatchObject([
      { field: 'metadata.labels["constructor"]', reason: 'FieldValueRequired' },
      { field: 'metadata.annotations["constructor"]', reason: 'FieldValueRequired' },
    ]);
  });

  test('a key named constructor satisfies the rule', async () => {
    const metadata = { labels: { constructor: 'yes' }, annotations: { constructor: 'b' } };
    expect((await ask('/validate', namespaceObject('inherited', metadata))).allowed).toBe(true);
  });
});

describe('very many small items', () => {
  function many<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => make(index));
  }
  const auths = Object.fromEntries(many(200_000, (index) => [`r${index}`, {}]));
  const config = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  const subjects = many(45_000, (index) => ({ kind: 'User', name: `guest-${index}` }));
  const annotations = Object.fromEntries(many(60_000, (index) => [`forbidden-${index}`, '']));
  const rows: readonly (readonly [string, string, (namespace: string) => Json])[] = [
    [
      '200,000 registries',
      'secrets.dockerConfig',
      (namespace) => secretObject({ type: 'kubernetes.io/dockerconfigjson', data: config }, { namespace }),
    ],
    [
      '45,000 subjects',
      'rbac.forbiddenSubjects',
      (namespace) => bindingObject({ metadata: { name: 'readers', namespace }, subjects }),
    ],
    ['60,000 annotations', 'namespaces.required', (namespace) => namespaceObject(namespace, { annotations })],
  ];

  test.each(rows)('%s are refused if the policy denies', async (_name, rule, make) => {
    const { allowed, status } = await ask('/validate', make('denied'));
    expect(allowed).toBe(false);
    expect(status).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(status?.message).toContain(`policy denied, ${rule}: `);
  });

  test.each(rows)('%s are allowed and audited if the policy audits', async (_name, rule, make) => {
    const { allowed, status, auditAnnotations } = await ask('/validate', make('audited'));
    expect({ allowed, status }).toEqual({ allowed: true, status: undefined });
    expect(auditAnnotations?.['violations']).toContain(rule);
  });

  test.each(rows)('%s pass the mutating endpoint', async (_name, _rule, make) => {
    const { allowed, patch } = await ask('/mutate', make('denied'));
    expect({ allowed, patch }).toEqual({ allowed: true, patch: undefined });
  });

  test('no request caused an internal error', () => {
    expect(target.observer.errors).toEqual([]);
  });
});
