// A provider being deleted keeps its finalizer while the API server has objects of it that no watch has reported.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { cleanupFinalizer } from '../../../../src/schema/names.ts';
import { failure } from '../../../support/memory-objects.ts';
import { bindingPolicy, shareOf, team, teams } from '../../../support/provided.ts';
import { refTo, type Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();

/** Each provider with an object of it in the namespace `a`. */
const cases = [
  {
    kind: 'RoleBinding',
    name: 'devs',
    provider: 'NamespacePolicy',
    give: (h: Harness) => h.policy('p', bindingPolicy()),
  },
  { kind: 'Secret', name: 'regcred', provider: 'SecretShare', give: (h: Harness) => h.share('p', shareOf()) },
  {
    kind: 'ServiceAccount',
    name: 'default',
    provider: 'NamespacePolicy',
    give: (h: Harness) => {
      const fields = { name: 'default', imagePullSecrets: ['regcred'] };
      h.policy('p', { match: teams, contents: { serviceAccounts: [fields] } });
    },
  },
] as const;

type Case = (typeof cases)[number];

/** An earlier leader has written to the namespace `b`, which matches no longer, and the watch of that kind is silent. */
async function withUnseen({ kind, name, give }: Case): Promise<Harness> {
  const h = harness();
  h.namespace('reeve-shared');
  h.namespace('a', team);
  h.namespace('b', { tier: 'left' });
  h.memory.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'a' } });
  h.secret('reeve-shared', 'regcred', { password: 'p' });
  give(h);
  h.start();
  await h.settle();
  const seen = h.get(kind, name, 'a');
  if (seen === undefined) throw new Error(`there is no ${kind}`);
  h.memory.silent.add(kind);
  h.memory.put({ ...seen, metadata: { ...seen.metadata, namespace: 'b' } });
  return h;
}

const leftIn = ({ kind, name }: Case, h: Harness): boolean => {
  const object = h.get(kind, name, 'b');
  return object !== undefined && (kind !== 'ServiceAccount' || object['imagePullSecrets'] !== undefined);
};

test.each(cases)('a $kind that its watch has not reported is deleted before its $provider', async (each) => {
  const h = await withUnseen(each);
  h.memory.delete(refTo(each.provider, 'p'));
  await h.settle(1000);
  expect(h.get(each.provider, 'p')?.metadata['finalizers']).toEqual([cleanupFinalizer]);
  expect(leftIn(each, h)).toBe(true);
  h.memory.relist();
  await h.settle();
  expect(h.get(each.provider, 'p')).toBeUndefined();
  expect(leftIn(each, h)).toBe(false);
});

test.each([403, 404])(
  'a kind that may not be listed, or is not served, holds no finalizer: %s',
  async (code) => {
    const h = await withUnseen(cases[0]);
    h.memory.fault = (verb) => (verb === 'list' ? failure(code) : undefined);
    h.memory.delete(refTo('NamespacePolicy', 'p'));
    await h.settle();
    expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
  },
);

/** Returns the RoleBinding that the policy `p` provides in the namespace `a`. */
async function providedBinding(h: Harness): Promise<KubeObject> {
  h.policy('p', bindingPolicy());
  h.start();
  await h.settle();
  const seen = h.get('RoleBinding', 'devs', 'a');
  if (seen === undefined) throw new Error('there is no RoleBinding');
  return seen;
}

/** The watch of Namespaces is behind, too. The provider has an object in a namespace that exists. */
async function inUnseenNamespace(makeNamespace: (h: Harness) => void): Promise<Harness> {
  const h = harness();
  for (const name of ['a', 'b']) h.namespace(name, team);
  const seen = await providedBinding(h);
  makeNamespace(h);
  h.memory.put({ ...seen, metadata: { ...seen.metadata, namespace: 'b' } });
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle(1000);
  return h;
}

test.each([
  [
    'that no watch has reported',
    (h: Harness) => {
      h.memory.finishNamespace('b');
    },
  ],
  [
    'that was deleted before, as its watch still says',
    (h: Harness) => {
      h.memory.delete(refTo('Namespace', 'b'));
    },
  ],
])('an object in a namespace %s is deleted before its provider', async (_, end) => {
  const h = await inUnseenNamespace((each) => {
    end(each);
    each.memory.silent.add('Namespace');
    each.memory.finishNamespace('b');
    each.namespace('b', team);
  });
  expect(h.get('NamespacePolicy', 'p')?.metadata['finalizers']).toEqual([cleanupFinalizer]);
  expect(h.get('RoleBinding', 'devs', 'b')).toBeDefined();
  h.memory.relist();
  await h.settle();
  expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
  expect(h.get('RoleBinding', 'devs', 'b')).toBeUndefined();
});

test.each([
  ['was deleted a moment ago', 'gone', 'NamespacePolicy/p'],
  ['is excluded', 'kube-system', 'NamespacePolicy/p'],
  ['has it from another provider of the same name', 'a', 'NamespacePolicy/other'],
])('an object of a namespace that %s holds no finalizer', async (_, namespace, owner) => {
  const left: KubeObject[] = [];
  const listOwned = async function* (): AsyncGenerator<KubeObject> {
    yield* await Promise.resolve(left);
  };
  const h = harness({ ownedReader: { listOwned } });
  for (const name of ['a', 'kube-system']) h.namespace(name, team);
  const seen = await providedBinding(h);
  const annotations = { ...seen.metadata.annotations, 'reeve.dev/owner': owner };
  left.push({ ...seen, metadata: { ...seen.metadata, namespace, annotations } });
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
});

test('the API server is asked again after two seconds, because no watch may ever report the object', async () => {
  const h = await withUnseen(cases[0]);
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle(1000);
  h.memory.delete(refTo('RoleBinding', 'devs', 'b'));
  await h.clock.advance(2000);
  await h.quiet();
  expect(h.get('NamespacePolicy', 'p')).toBeUndefined();
});

test('a provider without our finalizer has no objects, so nothing is asked when it goes', async () => {
  const h = harness();
  h.namespace('a', team);
  h.policy('p', { match: teams });
  h.memory.change(refTo('NamespacePolicy', 'p'), { metadata: { finalizers: ['theirs.example/hold'] } });
  h.start();
  await h.settle();
  const lists: string[] = [];
  h.memory.before = ({ verb, ref }) => {
    if (verb === 'list') lists.push(ref.kind);
  };
  h.memory.delete(refTo('NamespacePolicy', 'p'));
  await h.settle();
  expect(h.get('NamespacePolicy', 'p')?.metadata.deletionTimestamp).toBeDefined();
  expect(lists).toEqual([]);
});
