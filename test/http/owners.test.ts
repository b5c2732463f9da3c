// Reviews of policies and shares: bad ones, and what their authors read.
import { afterEach, describe, expect, test } from 'vitest';
import type { HandlerPorts } from '../../src/admission/handler.ts';
import type { Right } from '../../src/policy/terms/review.ts';
import type { ClusterSnapshot } from '../../src/policy/compile/snapshot.ts';
import { aShare, aSnapshot, knownNamespace, snapshotOf } from '../support/engine.ts';
import {
  namespaceObject,
  policyObject,
  reviewJson,
  shareObject,
  testUid,
  type Json,
  type Response,
} from '../support/reviews.ts';
import { type TestWebhook, webhookOfEachTest, askedReview } from '../support/test-webhook.ts';

const startWebhook = webhookOfEachTest();
let target: TestWebhook | undefined;
const errors: unknown[] = [];

afterEach(() => {
  errors.push(...(target?.observer.errors ?? []));
  target = undefined;
});

async function start(snapshot: ClusterSnapshot, ports: Partial<HandlerPorts> = {}): Promise<TestWebhook> {
  target = await startWebhook(snapshot, ports);
  return target;
}

async function ask(path: string, body: string): Promise<Response> {
  target ??= await startWebhook(snapshotOf({}));
  return await askedReview(target, path, body);
}

const policy = policyObject();
const share = shareObject();

/** A name, an object, changes to the request, and the code of the answer if it is not 400. */
type Row = readonly [string, Json, Json, number?];

function withCode([name, object, changes, code = 400]: Row): readonly [string, Json, Json, number] {
  return [name, object, changes, code];
}

describe('reviews of our own kinds that /validate refuses and /mutate passes', () => {
  const rows: readonly Row[] = [
    ['object null on CREATE', policy, { object: null }],
    ['oldObject null on UPDATE', share, { operation: 'UPDATE', oldObject: null }],
    ['oldObject null on DELETE', share, { operation: 'DELETE', object: null, oldObject: null }],
    ['metadata missing', policy, { object: { kind: 'NamespacePolicy', apiVersion: 'reeve.dev/v1alpha1' } }],
    ['metadata as text', share, { object: { ...share, metadata: 'x' } }],
    ['an annotation as number', shareObject({}, { annotations: { a: 1 } }), {}],
    ['finalizers as text', policyObject({}, { finalizers: 'x' }), {}],
    ['a deletionTimestamp that is no time', policyObject({}, { deletionTimestamp: 'now' }), {}],
    ['another name', policy, { name: 'other' }],
    ['a namespace in the request', policy, { namespace: 'team-a' }],
    ['a namespace in the object', shareObject({}, { namespace: 'team-a' }), { namespace: '' }],
    ['the kind of the other', policy, { object: { ...share, metadata: policy['metadata'] } }],
    [
      'another version',
      policy,
      { resource: { group: 'reeve.dev', version: 'v1', resource: 'namespacepolicies' } },
    ],
    ['another group', share, { resource: { group: '', version: 'v1alpha1', resource: 'secretshares' } }],
    ['its status', policy, { operation: 'UPDATE', oldObject: policy, subResource: 'status' }, 403],
    ['an unknown subresource', share, { operation: 'UPDATE', oldObject: share, subResource: 'scale' }, 403],
    ['CONNECT', policy, { operation: 'CONNECT' }],
    ['no spec', policyObject({}, {}), { object: { ...policy, spec: undefined } }, 403],
    ['a spec of null', policy, { object: { ...policy, spec: null } }, 403],
    ['a spec as list', share, { object: { ...share, spec: [] } }, 403],
    ['an unknown field of the spec', shareObject({ soruce: {} }), {}, 403],
    ['JavaScript in the spec', policyObject({ constructor: { prototype: {} }, toString: 5 }), {}, 403],
  ];
  test.each(rows.map(withCode))('%s', async (_name, object, changes, code) => {
    const { allowed, status, patch } = await ask('/validate', reviewJson(object, changes));
    expect({ allowed, patch }).toEqual({ allowed: false, patch: undefined });
    expect(status).toMatchObject({ status: 'Failure', code });
    expect(status?.details['causes']).not.toEqual([]);
    expect(await ask('/mutate', reviewJson(object, changes))).toEqual({ uid: testUid, allowed: true });
  });

  test.each([
    ['no operation', policy, { operation: undefined }],
    ['no user', share, { userInfo: undefined }],
    ['dryRun as text', policy, { dryRun: 'yes' }],
    ['a kind that is not that of the resource', policy, { kind: { group: '', version: 'v1', kind: 'Pod' } }],
  ])('%s is refused by both endpoints', async (_name, object, changes) => {
    for (const path of ['/validate', '/mutate'])
      expect((await ask(path, reviewJson(object, changes))).allowed).toBe(false);
  });

  test('a key of the spec such as __proto__ is an unknown field', async () => {
    const body = reviewJson(policyObject({ marker: 1 })).replace(
      '"marker":1',
      '"__proto__":{"suspend":true}',
    );
    const { status } = await ask('/validate', body);
    expect(status?.message).toContain('spec.__proto__: found an unknown field');
  });

  test('the details name the group and resource', async () => {
    const { status } = await ask('/validate', reviewJson(shareObject({ maxDeletions: -1 })));
    expect(status?.details).toMatchObject({
      name: 'regcred',
      group: 'reeve.dev',
      kind: 'secretshares',
      causes: [{ field: 'spec.maxDeletions', reason: 'FieldValueInvalid' }],
    });
  });
});

describe('policies and shares that are written', () => {
  const namespaces = Array.from({ length: 30 }, (_, index) => knownNamespace(`team-${index}`));
  const access = { mayDo: () => Promise.resolve('yes' as const) };

  test('a written share is answered with warnings, and counted by its rule only', async () => {
    const { observer } = await start(snapshotOf({}, namespaces), { access });
    const created = await ask('/validate', reviewJson(shareObject()));
    expect(created).toEqual({
      uid: testUid,
      allowed: true,
      warnings: [
        'SecretShare/regcred now reaches 30 namespaces: team-0, team-1, team-10, team-11, team-12 and 25 more',
      ],
    });
    const removal = { operation: 'DELETE', object: null, oldObject: shareObject() };
    const { status } = await ask('/validate', reviewJson(shareObject(), removal));
    expect(status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      details: { group: 'reeve.dev', kind: 'secretshares', causes: [{ reason: 'FieldValueForbidden' }] },
    });
    expect(status?.message).toContain('kubectl annotate secretshares.reeve.dev regcred --overwrite');
    // Names that anybody may invent are no labels of metrics.
    expect(observer.decisions).toMatchObject([
      { resource: 'secretshares', name: 'regcred', decision: 'allowed', policies: [], rules: [] },
      { decision: 'denied', policies: [], rules: [{ policy: '', rule: 'fuse', action: 'Deny' }] },
    ]);
  });

  test('a policy that binds a role which Reeve may not bind is allowed with a warning', async () => {
    const ownAccount = { username: 'system:serviceaccount:reeve-system:reeve-reconciler', groups: [] };
    const asked: string[] = [];
    const granting = {
      mayDo: ({ username }: { readonly username: string }, { verb, name }: Right) => {
        asked.push(`${username} ${verb} ${name ?? ''}`);
        const isMissing = username === ownAccount.username && name === 'admin';
        return Promise.resolve(isMissing ? ('no' as const) : ('yes' as const));
      },
    };
    const subjects = [{ kind: 'Group', name: 'staff' }];
    const binding = (name: string) => ({ name, roleRef: { kind: 'ClusterRole', name }, subjects });
    const binds = (...roles: readonly string[]) =>
      policyObject({ match: { names: ['team-0'] }, contents: { roleBindings: roles.map(binding) } });
    await start(snapshotOf({}, namespaces), { access: granting, ownAccount });
    const lacks =
      'NamespacePolicy/teams binds ClusterRole admin, which this installation does not let Reeve bind, ' +
      'so Reeve does not create these RoleBindings until an administrator adds the role to the install';
    const { allowed, warnings } = await ask('/validate', reviewJson(binds('view', 'admin')));
    expect([allowed, warnings]).toEqual([
      true,
      [lacks, 'NamespacePolicy/teams now reaches 1 namespace: team-0'],
    ]);
    expect(asked.filter((each) => each.startsWith(ownAccount.username))).toEqual([
      `${ownAccount.username} bind view`,
      `${ownAccount.username} bind admin`,
    ]);
    // A role that the policy binds already is in its status.
    const change = { operation: 'UPDATE', oldObject: binds('admin') };
    expect(
      (await ask('/validate', reviewJson(binds('admin', 'edit'), change))).warnings?.join(),
    ).not.toContain('does not let Reeve bind');
    await start(snapshotOf({}, namespaces), { access: granting });
    const { warnings: unknown = [] } = await ask('/validate', reviewJson(binds('admin')));
    expect(unknown.join()).not.toContain('does not let Reeve bind');
  });

  test('a review of a policy is not bound by the limit for evaluating policies', async () => {
    await start(snapshotOf({}, namespaces), { evaluationUnits: 0, access });
    expect((await ask('/validate', reviewJson(policyObject()))).allowed).toBe(true);
  });

  test('a review of a policy that takes longer than the request is refused', async () => {
    let time = 0;
    const clock = { now: () => new Date(), monotonic: () => (time += 400) };
    await start(snapshotOf({}, namespaces), { clock });
    const { status } = await ask('/validate?timeout=4s', reviewJson(policyObject()));
    expect(status).toMatchObject({ code: 504, reason: 'Timeout' });
  });

  test('steering into a share is counted under its own name, not that of a policy', async () => {
    const regcred = aShare('regcred', {
      source: { namespace: 'reeve-shared', name: 'regcred' },
      targets: { names: ['team-a'] },
    });
    const { observer } = await start(aSnapshot([], [], [regcred]));
    expect((await ask('/validate', reviewJson(namespaceObject('team-a')))).allowed).toBe(false);
    expect(observer.decisions[0]?.rules).toEqual([
      { policy: 'SecretShare/regcred', rule: 'steering', action: 'Deny' },
    ]);
  });
});

test('no request caused an internal error', () => {
  expect(errors).toEqual([]);
});
