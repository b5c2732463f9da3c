// Rights that our own account lacks are reported, checked again, and used as soon as they are granted.
import { describe, expect, test } from 'vitest';
import { bindingPolicy, quotaPolicy, settledWith, shareOf, team } from '../../../support/provided.ts';
import { failure } from '../../../support/memory-objects.ts';
import type { Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();
const soonMs = 15_000;

const ready = (h: Harness, kind = 'NamespacePolicy', name = 'p') => h.condition(kind, name);
const missing = { status: 'False', reason: 'InsufficientPermissions' };
const fine = { status: 'True', reason: 'Synced' };

async function later(h: Harness, milliseconds: number): Promise<void> {
  await h.clock.advance(milliseconds);
  await h.settle();
}

describe('a right that is missing', () => {
  test('a missing right is reported with its rule, once in events and log, until it is granted', async () => {
    const h = harness();
    h.rights.set('bind clusterroles edit', 'no');
    await settledWith(h, bindingPolicy(), ['a']);
    expect(ready(h)).toMatchObject({
      ...missing,
      message: expect.stringContaining(
        '- {apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], resourceNames: ["edit"], verbs: [bind]}',
      ) as unknown,
    });
    await later(h, soonMs);
    await later(h, soonMs);
    expect(h.told.observed.filter(([what]) => what === 'blocked')).toEqual([
      ['blocked', 'NamespacePolicy/p', 'InsufficientPermissions'],
    ]);
    expect(h.told.events.filter(({ reason }) => reason === 'InsufficientPermissions')).toHaveLength(1);
    h.rights.clear();
    await later(h, soonMs);
    expect(ready(h)).toMatchObject(fine);
  });

  test('the status of a misspelled ClusterRole says which one was probably meant', async () => {
    const h = harness();
    h.rights.set('bind clusterroles eddit', 'no');
    await settledWith(h, bindingPolicy({}, { roleRef: { kind: 'ClusterRole', name: 'eddit' } }), ['a']);
    const said = 'ClusterRole eddit (did you mean edit?) may not exist, so check the name first; ';
    expect(ready(h)).toMatchObject({
      ...missing,
      message: expect.stringContaining(said) as unknown,
    });
  });

  test('writes are tried without the right, and repeated as soon as it is granted', async () => {
    const h = harness();
    h.rights.set('bind clusterroles edit', 'no');
    h.memory.fault = (verb, { kind }) =>
      verb === 'apply' && kind === 'RoleBinding' && h.rights.size > 0 ? failure(403) : undefined;
    const contents = { ...contentsOf(quotaPolicy()), ...contentsOf(bindingPolicy()) };
    await settledWith(h, bindingPolicy({ contents }), ['a']);
    expect(['ResourceQuota', 'RoleBinding'].map((kind) => h.memory.list(kind, 'a').length)).toEqual([1, 0]);
    expect(ready(h)).toMatchObject(missing);
    h.rights.clear();
    await later(h, soonMs);
    expect(h.memory.list('RoleBinding', 'a')).toHaveLength(1);
    expect(ready(h)).toMatchObject(fine);
  });

  test('rights are checked again for a policy that has changed', async () => {
    const h = await settledWith(harness(), bindingPolicy(), ['a']);
    h.rights.set('bind clusterroles edit', 'no');
    await later(h, 5000);
    expect(ready(h)).toMatchObject(fine);
    h.policy('p', bindingPolicy({ maxDeletions: 5 }));
    await h.settle();
    expect(ready(h)).toMatchObject(missing);
  });

  test('rights are checked when a write is refused', async () => {
    const h = await settledWith(harness(), bindingPolicy(), ['a']);
    await h.clock.advance(20_000);
    h.rights.set('create rolebindings', 'no');
    h.memory.fault = (verb) => (verb === 'apply' ? failure(403) : undefined);
    h.namespace('b', team);
    await h.settle();
    expect(ready(h)).toMatchObject({
      ...missing,
      message: expect.stringContaining('verbs: [create]}') as unknown,
    });
    h.memory.fault = () => undefined;
    h.rights.clear();
    await later(h, soonMs);
    expect(ready(h)).toMatchObject(fine);
  });

  test('a resync finds a missing right', async () => {
    const h = await settledWith(harness({ resyncMs: 600_000 }), bindingPolicy(), ['a']);
    h.rights.set('delete rolebindings', 'no');
    await later(h, 600_000);
    expect(ready(h)).toMatchObject(missing);
  });

  test('no right is checked for a suspended provider', async () => {
    const h = harness();
    h.rights.set('bind clusterroles edit', 'no');
    await settledWith(h, bindingPolicy({ suspend: true }), ['a']);
    expect(ready(h)).toMatchObject({ reason: 'Suspended' });
    expect(h.asked).toEqual([]);
  });
});

test('a first review without an answer reports nothing', async () => {
  const h = harness();
  h.rights.set('bind clusterroles edit', 'unknown');
  await settledWith(h, bindingPolicy(), ['a']);
  expect(ready(h)).toMatchObject(fine);
});

test('a later review without an answer keeps the last answer', async () => {
  const h = harness();
  h.rights.set('bind clusterroles edit', 'no');
  await settledWith(h, bindingPolicy(), ['a']);
  h.rights.set('bind clusterroles edit', 'unknown');
  await later(h, soonMs);
  expect(ready(h)).toMatchObject(missing);
});

test('providers that need the same right share one review, and nothing is asked without a cause', async () => {
  const h = harness();
  for (let index = 0; index < 30; index += 1) h.policy(`q${index}`, bindingPolicy({}, { name: `b${index}` }));
  await settledWith(h, bindingPolicy(), ['a']);
  const asked = h.asked.length;
  expect(asked).toBeLessThan(8 * 9);
  h.namespace('b', team);
  await h.settle();
  expect(h.asked).toHaveLength(asked);
});

test.for([
  ['of all Secrets', undefined, 'list secrets'],
  ['of Secrets of one name', ['regcred'], 'watch secrets regcred'],
] as const)(
  'a forbidden watch %s delays no other object, and its share reports it until it is allowed',
  async ([, secretNames, right]) => {
    const h = harness({ install: { secretNames, sourceNamespaces: [] } }, undefined, {
      unserved: ['Secret'],
    });
    h.rights.set(right, 'no');
    h.namespace('a', team);
    h.share('s', shareOf());
    await settledWith(h, bindingPolicy(), ['b']);
    expect(h.memory.list('RoleBinding')).toHaveLength(2);
    expect(ready(h, 'SecretShare', 's')).toMatchObject(missing);
    // It is not known whether the share has copies.
    h.memory.delete({ apiVersion: 'reeve.dev/v1alpha1', kind: 'SecretShare', name: 's' });
    await h.settle();
    expect(ready(h, 'SecretShare', 's')).toMatchObject({ reason: 'Deleting' });
    h.rights.clear();
    h.serve('Secret');
    await h.settle();
    expect(h.get('SecretShare', 's')).toBeUndefined();
  },
);

test('a watch is waited for while it is unknown whether our account may use it', async () => {
  const h = harness({}, undefined, { unserved: ['Secret'] });
  h.rights.set('list secrets', 'unknown');
  h.start();
  await h.clock.advance(60_000);
  expect(h.reconciler.health()).toMatchObject({ isSynced: false, isInitialSyncDone: false });
  h.serve('Secret');
  await h.settle();
  expect(h.reconciler.health()).toMatchObject({ isSynced: true, isInitialSyncDone: true });
});

test.for([
  ['Off', { secrets: { maxBytes: 5 } }, 'HookNotInstalled', 'the rules in spec.secrets are not enforced'],
  [
    'Off',
    { secrets: { defaults: { labels: { a: 'b' } } } },
    'HookNotInstalled',
    'the rules in spec.secrets are not enforced',
  ],
  [
    'Off',
    { secrets: { maxBytes: 5 }, rbac: { forbidWildcardRules: true } },
    'HookNotInstalled',
    'the rules in spec.secrets and spec.rbac are not enforced',
  ],
  ['Off', { namespaces: { required: { labels: { tier: {} } } } }, 'Synced', ''],
  ['Ignore', { secrets: { maxBytes: 5 } }, 'Synced', ''],
  ['Fail', { rbac: { forbidWildcardRules: true } }, 'Synced', ''],
] as const)(
  'with secretsRbacFailurePolicy %s, rules %j are reported if no webhook judges them',
  async ([secretsRbacFailurePolicy, rules, reason, words]) => {
    const h = harness({ secretsRbacFailurePolicy });
    await settledWith(h, bindingPolicy(rules), ['a']);
    expect(ready(h)).toMatchObject({ reason, message: expect.stringContaining(words) as unknown });
    // Objects are created all the same.
    expect(h.memory.list('RoleBinding', 'a')).toHaveLength(1);
  },
);

function contentsOf(policy: object): object {
  return (policy as { readonly contents: object }).contents;
}
