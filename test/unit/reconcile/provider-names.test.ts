// The labels and annotations to find the objects of a policy or share by, and when they expire.
import { describe, expect, test } from 'vitest';
import { bindingPolicy, quotaPolicy, settledWith, shareOf, team } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

const mark = { 'app.kubernetes.io/managed-by': 'reeve' };

async function shared(spec: object = {}): Promise<Harness> {
  const h = harness();
  h.namespace('reeve-shared');
  h.namespace('a', team);
  h.secret('reeve-shared', 'regcred', { k: 'v' });
  h.share('registry', shareOf(spec));
  h.start();
  await h.settle();
  return h;
}

const labelsOf = (h: Harness, kind: string, name: string) => h.get(kind, name, 'a')?.metadata.labels;
const expiryOf = (h: Harness) =>
  h.get('RoleBinding', 'devs', 'a')?.metadata.annotations?.['reeve.dev/expires-at'];

describe('the label of the provider', () => {
  test.each<readonly [string, object, string]>([
    ['RoleBinding', bindingPolicy(), 'devs'],
    ['ResourceQuota', quotaPolicy(), 'team'],
  ])('a %s has the name of its policy as a label', async (kind, spec, name) => {
    const h = await settledWith(harness(), spec, ['a']);
    expect(labelsOf(h, kind, name)).toEqual({ ...mark, 'reeve.dev/namespacepolicy': 'p' });
  });

  test('a copy of a Secret has the name of its share as a label', async () => {
    const h = await shared();
    expect(labelsOf(h, 'Secret', 'regcred')).toEqual({ ...mark, 'reeve.dev/secretshare': 'registry' });
  });

  test.each<readonly [string, object, string]>([
    ['RoleBinding', bindingPolicy(), 'devs'],
    ['ResourceQuota', quotaPolicy(), 'team'],
  ])('a %s that another policy takes over gets its name', async (kind, spec, name) => {
    const h = await settledWith(harness(), spec, ['a']);
    h.policy('q', spec);
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect(labelsOf(h, kind, name)).toEqual({ ...mark, 'reeve.dev/namespacepolicy': 'q' });
  });

  test('a copy that another share takes over gets its name', async () => {
    const h = await shared();
    h.share('successor', shareOf());
    h.memory.delete(refTo('SecretShare', 'registry'));
    await h.settle();
    expect(labelsOf(h, 'Secret', 'regcred')).toEqual({ ...mark, 'reeve.dev/secretshare': 'successor' });
  });

  test.each<readonly [string, object, string]>([
    ['RoleBinding', bindingPolicy({ deletionPolicy: 'Orphan' }, { expiresAfter: '8h' }), 'devs'],
    ['ResourceQuota', quotaPolicy(undefined, { deletionPolicy: 'Orphan' }), 'team'],
  ])(
    'a %s that its policy leaves behind names no policy any more, and no expiry',
    async (kind, spec, name) => {
      const h = await settledWith(harness(), spec, ['a']);
      h.memory.delete(refTo('NamespacePolicy', 'p'));
      await h.settle();
      expect(labelsOf(h, kind, name)).not.toHaveProperty('reeve.dev/namespacepolicy');
      expect(h.get(kind, name, 'a')?.metadata.annotations).not.toHaveProperty('reeve.dev/expires-at');
    },
  );

  /** Removes from an object what an earlier version did not write. */
  function asBefore(h: Harness, kind: string, name: string): void {
    const labels = { 'reeve.dev/namespacepolicy': null, 'reeve.dev/secretshare': null };
    const annotations = { 'reeve.dev/expires-at': null };
    h.memory.change(refTo(kind, name, 'a'), { metadata: { labels, annotations } });
    h.takeWrites();
  }

  test.each<readonly [string, object, string]>([
    ['RoleBinding', bindingPolicy({}, { expiresAfter: '8h' }), 'devs'],
    ['ResourceQuota', quotaPolicy(), 'team'],
  ])('a %s of an earlier version is written once to get the name', async (kind, spec, name) => {
    const h = await settledWith(harness(), spec, ['a']);
    await h.stop();
    asBefore(h, kind, name);
    h.start();
    await h.settle();
    expect(labelsOf(h, kind, name)).toEqual({ ...mark, 'reeve.dev/namespacepolicy': 'p' });
    expect(h.takeWrites()).toHaveLength(1);
  });

  test('an object of an earlier version stays in sync while its policy is suspended', async () => {
    const h = await settledWith(harness(), bindingPolicy({}, { expiresAfter: '8h' }), ['a']);
    h.policy('p', bindingPolicy({ suspend: true }, { expiresAfter: '8h' }));
    await h.settle();
    await h.stop();
    asBefore(h, 'RoleBinding', 'devs');
    h.start();
    await h.settle();
    expect(h.takeWrites()).toEqual([]);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ desired: 1, synced: 1, failed: 0 });
  });
});

describe('the annotation with the expiry', () => {
  test('a RoleBinding says when it expires, and says it correctly after a change', async () => {
    const h = await settledWith(harness(), bindingPolicy({}, { expiresAt: '2026-11-22T10:00:00+02:00' }), [
      'a',
    ]);
    expect(expiryOf(h)).toBe('2026-11-22T08:00:00Z');
    h.policy('p', bindingPolicy({}, { expiresAt: '2027-01-31T00:00:00Z' }));
    await h.settle();
    expect(expiryOf(h)).toBe('2027-01-31T00:00:00Z');
    h.policy('p', bindingPolicy());
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toBeDefined();
    expect(expiryOf(h)).toBeUndefined();
  });

  test('a RoleBinding with expiresAfter says when that is', async () => {
    const h = await settledWith(harness(), bindingPolicy({}, { expiresAfter: '8h' }), ['a']);
    const created = Date.parse(h.get('Namespace', 'a')?.metadata.creationTimestamp as string);
    expect(Date.parse(expiryOf(h) ?? '')).toBe(created + 8 * 3_600_000);
  });

  test('an adopted RoleBinding loses the expiry that a user wrote on it', async () => {
    const h = harness();
    h.namespace('a', team);
    const annotations = { 'reeve.dev/expires-at': '2030-01-01T00:00:00Z' };
    h.memory.put({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'devs', namespace: 'a', labels: { 'reeve.dev/adopt': 'true' }, annotations },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [],
    });
    h.policy('p', bindingPolicy());
    h.start();
    await h.settle();
    expect(expiryOf(h)).toBeUndefined();
    h.takeWrites();
    await h.settle(600_000);
    expect(h.takeWrites()).toEqual([]);
  });
});
