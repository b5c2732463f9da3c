// Fields that policies add to ServiceAccounts: what Reeve writes, reports and retries.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decidingKinds } from '../../../src/api/kinds.ts';
import { KubeError } from '../../../src/base/kube-error.ts';
import { anyInstall } from '../../../src/policy/terms/install.ts';
import { LiveCluster } from '../../../src/state/live-cluster.ts';
import { Harness } from '../../support/reconcile-harness.ts';

const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
const match = { namespaceSelector: { matchLabels: { tier: 'team' } } };
const withFields = (fields: object, more: object = {}) => ({
  match,
  contents: { serviceAccounts: [{ name: 'default', ...fields }] },
  ...more,
});
const regcred = { imagePullSecrets: ['regcred'] };

let h: Harness;
beforeEach(() => {
  h = new Harness();
});
afterEach(async () => {
  await h.end();
});

function team(name: string): void {
  h.namespace(name, { tier: 'team' });
  h.memory.put({ ...account, metadata: { name: 'default', namespace: name } });
}

const ref = (namespace: string) => ({ ...account, namespace, name: 'default' });
const listIn = (namespace: string) => h.get('ServiceAccount', 'default', namespace)?.['imagePullSecrets'];
const list = (...names: readonly string[]) => names.map((name) => ({ name }));
const writesOf = (kind: string) => h.takeWrites().filter((write) => write.kind === kind).length;

async function begin(spec: object = withFields(regcred)): Promise<void> {
  team('a');
  h.policy('p', spec);
  h.start();
  await h.settle();
}

describe('the status', () => {
  test('fields count as an object of the policy, and the namespace is ready', async () => {
    await begin();
    expect(listIn('a')).toEqual(list('regcred'));
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ desired: 1, synced: 1, matched: 1 });
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ reason: 'Synced' });
    expect(h.told.observed).toContainEqual([
      'wrote',
      'update',
      { namespace: 'a', kind: 'ServiceAccount', name: 'default', owner: 'NamespacePolicy/p' },
    ]);
  });

  test('a refused write is a failure of the policy and of the namespace', async () => {
    h.memory.fault = (verb, { kind }) =>
      verb === 'apply' && kind === 'ServiceAccount'
        ? new KubeError({ code: 403, reason: 'Forbidden', retryable: false })
        : undefined;
    await begin();
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ desired: 1, synced: 0, failed: 1 });
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'False' });
  });

  test('a namespace whose ServiceAccount Kubernetes never creates is not ready', async () => {
    h.namespace('a', { tier: 'team' });
    h.policy('p', withFields(regcred));
    h.start();
    await h.settle();
    expect(h.get('ServiceAccount', 'default', 'a')).toBeUndefined();
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ reason: 'NotCreatedYet' });
  });
});

describe('writes', () => {
  test('one write for each account, and none when everything is in order', async () => {
    await begin();
    expect(writesOf('ServiceAccount')).toBe(1);
    h.memory.change(ref('a'), { metadata: { annotations: { of: 'a user' } } });
    await h.settle();
    expect(writesOf('ServiceAccount')).toBe(0);
  });

  test('a write that fails for a moment is tried again', async () => {
    let faults = 2;
    h.memory.fault = (verb, { kind }) => {
      if (verb !== 'apply' || kind !== 'ServiceAccount' || faults === 0) return undefined;
      faults -= 1;
      return new KubeError({ code: 500, reason: 'InternalError', retryable: true });
    };
    await begin();
    expect(listIn('a')).toEqual(list('regcred'));
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ synced: 1 });
  });

  test('the finalizer is on the policy before its first field is on an account', async () => {
    const order: string[] = [];
    h.memory.after = ({ verb, ref: { kind } }) => {
      if (verb === 'apply' && kind === 'ServiceAccount') order.push('fields');
      if (verb === 'patch' && kind === 'NamespacePolicy') order.push('finalizer');
    };
    await begin();
    expect(order.slice(0, 2)).toEqual(['finalizer', 'fields']);
  });

  test('an account that another client keeps changing back is left alone for a while', async () => {
    h.memory.after = ({ verb, ref: { kind } }) => {
      if (verb === 'apply' && kind === 'ServiceAccount')
        h.memory.change(ref('a'), { imagePullSecrets: null });
    };
    await begin();
    expect(h.told.observed.filter(([name]) => name === 'rewriteLimited').length).toBeGreaterThan(0);
    expect(writesOf('ServiceAccount')).toBeLessThan(15);
    h.memory.after = () => undefined;
  });
});

describe('a policy that is deleted', () => {
  const remove = async (): Promise<void> => {
    h.memory.delete({ apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', name: 'p' });
    await h.settle();
  };

  test('it goes when its fields are taken back, however few deletions it may make', async () => {
    await begin(withFields(regcred, { maxDeletions: 0 }));
    await remove();
    expect(listIn('a')).toBeUndefined();
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
  });

  test('it waits while its fields cannot be taken back', async () => {
    await begin();
    h.memory.fault = (verb, { kind }) =>
      verb === 'apply' && kind === 'ServiceAccount'
        ? new KubeError({ code: 403, reason: 'Forbidden', retryable: false })
        : undefined;
    await remove();
    expect(h.get('NamespacePolicy', 'p')).toBeDefined();
    h.memory.fault = () => undefined;
    await h.settle(60_000);
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
    expect(listIn('a')).toBeUndefined();
  });

  test.for([
    ['it leaves its fields in place while suspended', { suspend: true }],
    ['it leaves its fields in place with deletionPolicy Orphan', { deletionPolicy: 'Orphan' }],
  ] as const)('%s', async ([, more]) => {
    await begin();
    h.policy('p', withFields(regcred, more));
    await h.settle();
    await remove();
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
    expect(listIn('a')).toEqual(list('regcred'));
    expect(h.told.observed.filter(([name]) => name === 'orphaned')).toEqual([]);
  });

  test('it leaves its fields in place when its kind is being deleted', async () => {
    await begin();
    h.terminatingKinds = ['NamespacePolicy'];
    await remove();
    expect(listIn('a')).toEqual(list('regcred'));
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
  });
});

test('a policy that does not load keeps its fields', async () => {
  await begin();
  h.policy('p', { match: 5 });
  await h.settle();
  expect(listIn('a')).toEqual(list('regcred'));
});

test('a new leader takes back what no policy wants any more', async () => {
  await begin();
  await h.stop();
  h.policy('p', { match });
  h.start();
  await h.settle();
  expect(listIn('a')).toBeUndefined();
});

test('a policy that is known before the reconciler is made starts the watch of ServiceAccounts', async () => {
  const cluster = new LiveCluster({ install: anyInstall });
  h = new Harness({ cluster });
  team('a');
  h.policy('p', withFields(regcred));
  for (const { kind } of decidingKinds) cluster.sinks[kind].replaced(h.memory.list(kind), '1');
  cluster.namespaces.replaced(h.memory.list('Namespace'), '1');
  h.start();
  let isNeeded = false;
  const watch = h.reconciler.watches.find(({ type }) => type.kind === 'ServiceAccount');
  void watch?.needed?.then(() => (isNeeded = true));
  await h.settle();
  expect(isNeeded).toBe(true);
});
