// A provider being deleted keeps its finalizer while the API server has objects of it that no watch has reported.
import { expect, test } from 'vitest';
import { cleanupFinalizer } from '../../../../src/api/names.ts';
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
