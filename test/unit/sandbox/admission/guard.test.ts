// Evaluates the shipped guard in the sandbox, with the cases of the guard on a real API server.
import { beforeEach, describe, expect, test } from 'vitest';
import { providerLabels } from '../../../../src/schema/names.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { whyNotEvaluated } from '../../../../src/sandbox/admission/expressions.ts';
import { manifestObjects } from '../../../support/manifest-files.ts';
import {
  guardedKinds,
  largeManifest,
  manifest,
  markedManifest,
  markLabel,
  owner,
  type GuardedKind,
} from '../../../e2e/guarded-objects.ts';
import { kind, namespaces, Scene } from './scene.ts';

const guard = manifestObjects('install').filter(({ file }) => file.includes('guard'));
const reeve = { username: 'system:serviceaccount:reeve-system:reeve-reconciler', groups: [] };
const namespace = 'guarded';
const kept = { name: 'kept', namespace, uid: 'u' };
const held = ['example.com/held'];

const marked = (of: GuardedKind, metadata: object = {}): KubeObject =>
  JSON.parse(markedManifest(of, { ...kept, ...metadata })) as KubeObject;
const plain = (of: GuardedKind, metadata: object = {}): KubeObject =>
  JSON.parse(manifest(of, { ...kept, ...metadata })) as KubeObject;

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.namespace(namespace);
  scene.namespace('ending', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  for (const { object } of guard) scene.put(object);
});

test('the sandbox evaluates the guard', () => {
  const policies = guard.filter(({ object }) => object.kind === 'ValidatingAdmissionPolicy');
  expect(policies.map(({ object }) => whyNotEvaluated(object as unknown as KubeObject))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

interface Change {
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject;
}

async function refused(change: Change, others: Parameters<Scene['write']>[0] | object = {}) {
  const { apiVersion = '', kind: name = '' } = change.object ?? change.oldObject ?? { metadata: {} };
  return await scene.refusal(scene.write({ resource: kind(apiVersion, name), ...change, ...others }));
}

const leaveItOut = 'only Reeve sets it: leave it out';

describe.each(guardedKinds)('%s', (of) => {
  const changes: readonly (readonly [string, Change])[] = [
    ['changes it', { object: marked(of, { labels: { touched: 'yes' } }), oldObject: marked(of) }],
    ['takes the mark away', { object: plain(of), oldObject: marked(of) }],
    ['changes the mark', { object: plain(of, { labels: { [markLabel]: 'me' } }), oldObject: marked(of) }],
    [
      'takes the owner away',
      { object: plain(of, { labels: { [markLabel]: 'reeve' } }), oldObject: marked(of) },
    ],
    [
      'gives it to the garbage collector',
      { object: marked(of, { ownerReferences: [{ uid: 'x' }] }), oldObject: marked(of) },
    ],
    [
      'changes more than finalizers',
      { object: marked(of, { finalizers: held, labels: { a: 'b' } }), oldObject: marked(of) },
    ],
    [
      'adds a finalizer',
      { object: marked(of, { finalizers: [...held, 'x/y'] }), oldObject: marked(of, { finalizers: held }) },
    ],
    ['adds a field', { object: { ...marked(of), immutable: true }, oldObject: marked(of) }],
    ['takes a field away', { object: marked(of), oldObject: { ...marked(of), immutable: true } }],
    ['deletes it', { oldObject: marked(of) }],
  ];

  test.each(changes)('another user who %s is refused', async (_, change) => {
    const { kind: name } = marked(of);
    expect(await refused(change)).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: expect.stringContaining(
        `"kept" is forbidden: ValidatingAdmissionPolicy 'reeve-guard' with binding 'reeve-guard' denied request: Reeve keeps ${name} kept for ${owner}, and only Reeve writes it: change or delete that instead (kubectl edit ${owner.toLowerCase()})`,
      ) as string,
    });
  });

  test.each(changes)('Reeve %s', async (_, change) => {
    expect(await refused(change, { user: reeve })).toBeUndefined();
  });

  test('no other user sets the mark', async () => {
    expect((await refused({ object: marked(of) }))?.message).toContain(leaveItOut);
    const label = { object: marked(of), oldObject: plain(of) };
    expect((await refused(label))?.message).toContain(leaveItOut);
  });

  test.each<[string, Change, object]>([
    ['writes what is not marked', { object: plain(of), oldObject: plain(of, { labels: { a: 'b' } }) }, {}],
    ['takes finalizers away', { object: marked(of), oldObject: marked(of, { finalizers: held }) }, {}],
    ['deletes in a namespace that ends', { oldObject: marked(of, { namespace: 'ending' }) }, {}],
    [
      'breaks the glass',
      { oldObject: marked(of) },
      { user: { username: 'a', groups: ['reeve:break-glass'] } },
    ],
    [
      'writes the status',
      { object: marked(of, { labels: {} }), oldObject: marked(of) },
      { subresource: 'status' },
    ],
  ])('another user who %s is permitted', async (_, change, others) => {
    expect(await refused(change, others)).toBeUndefined();
  });

  test('no other user changes anything in a terminating namespace', async () => {
    const metadata = { namespace: 'ending' };
    const change = {
      object: marked(of, { ...metadata, generateName: 'x' }),
      oldObject: marked(of, metadata),
    };
    expect(await refused(change)).toMatchObject({ code: 403 });
  });
});

test.each(['secret', 'configmap'] as const)('a finalizer may be removed from a large %s', async (of) => {
  const large = (metadata: object): KubeObject =>
    JSON.parse(largeManifest(of, { ...kept, ...metadata })) as KubeObject;
  expect(await refused({ object: large({}), oldObject: large({ finalizers: held }) })).toBeUndefined();
});

test('the refusal for a collection names its objects only in the message', async () => {
  const refusal = await refused({ oldObject: marked('configmap') }, { name: '' });
  expect(refusal?.message).toContain('Reeve keeps ConfigMap kept for');
});

describe.each(Object.values(providerLabels))('the label %s', (key) => {
  const claimed = (labels: object = {}, of: GuardedKind = 'rolebinding'): KubeObject =>
    plain(of, { labels: { [key]: 'registry', ...labels } });
  const onlyReeve = 'name what provides an object, and only Reeve sets them: leave them out';

  test.each<[string, Change, object]>([
    ['creates an object with it', { object: claimed() }, {}],
    ['adds it', { object: claimed(), oldObject: plain('rolebinding') }, {}],
    ['changes it', { object: claimed({ [key]: 'other' }), oldObject: claimed() }, {}],
    [
      'adds it with the status',
      { object: claimed(), oldObject: plain('rolebinding') },
      { subresource: 'status' },
    ],
    [
      'adds it as Reeve, without the mark',
      { object: claimed(), oldObject: plain('rolebinding') },
      { user: reeve },
    ],
  ])('a user who %s is refused', async (_, change, others) => {
    const refusal = await refused(change, others);
    expect(refusal).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(refusal?.message).toContain(onlyReeve);
  });

  test.each<[string, Change, object]>([
    [
      'removes it from an object without the mark',
      { object: plain('rolebinding'), oldObject: claimed() },
      {},
    ],
    ['changes something else', { object: claimed({ a: 'b' }), oldObject: claimed() }, {}],
    ['deletes an object without the mark', { oldObject: claimed() }, {}],
    ['adds it as Reeve, with the mark', { object: claimed({ [markLabel]: 'reeve' }) }, { user: reeve }],
    [
      'adds it with break-glass',
      { object: claimed() },
      { user: { username: 'a', groups: ['reeve:break-glass'] } },
    ],
  ])('a user who %s is permitted', async (_, change, others) => {
    expect(await refused(change, others)).toBeUndefined();
  });

  test('no user changes it on an object of Reeve', async () => {
    const oldObject = claimed({ [markLabel]: 'reeve' });
    const changed = await refused({ object: claimed({ [markLabel]: 'reeve', [key]: 'other' }), oldObject });
    expect(changed?.message).toContain('only Reeve writes it');
    const removed = await refused({
      object: plain('rolebinding', { labels: { [markLabel]: 'reeve' } }),
      oldObject,
    });
    expect(removed?.message).toContain('only Reeve writes it');
  });
});

test('the mark is refused on a cluster-scoped object', async () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n', labels: { [markLabel]: 'reeve' } },
  };
  const refusal = await scene.refusal(scene.write({ resource: namespaces, object }));
  expect(refusal?.message).toContain(leaveItOut);
});

describe('the record of what is created once', () => {
  const record = 'reeve.dev/created-once';
  const withRecord = (text?: string) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n', ...(text === undefined ? {} : { annotations: { [record]: text } }) },
  });
  const update = async (from: string | undefined, to: string | undefined, more: object = {}) =>
    await scene.refusal(
      scene.write({ resource: namespaces, object: withRecord(to), oldObject: withRecord(from), ...more }),
    );

  test.each<[string, string | undefined, string | undefined]>([
    ['sets the record', undefined, 'a'],
    ['changes the record', 'a', 'b'],
    ['empties the record', 'a', ''],
  ])('another user who %s is refused', async (_, from, to) => {
    expect((await update(from, to))?.message).toContain('only Reeve writes it');
    expect((await update(from, to, { subresource: 'status' }))?.message).toContain('only Reeve writes it');
    expect(await update(from, to, { user: reeve })).toBeUndefined();
    expect(
      await update(from, to, { user: { username: 'a', groups: ['reeve:break-glass'] } }),
    ).toBeUndefined();
  });

  test('another user may leave the record as it is, or remove it where the webhook permits that', async () => {
    expect(await update('a', 'a')).toBeUndefined();
    expect(await update('a', undefined)).toBeUndefined();
  });
});
