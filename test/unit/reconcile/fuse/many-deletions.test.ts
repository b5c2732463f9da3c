// More deletions than one status can name: they are carried out in batches, and a restart lets no others pass.
import { expect, test } from 'vitest';
import { failure } from '../../../support/memory-objects.ts';
import { bindingPolicy, team } from '../../../support/provided.ts';
import type { Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();
const left = (h: Harness): number => h.memory.list('RoleBinding').length;
const held = (h: Harness): unknown => h.status('NamespacePolicy', 'p')['held'];
const leave = (h: Harness, names: readonly string[]): void => names.forEach((name) => h.namespace(name, {}));

function underway(h: Harness): readonly string[] {
  const { deletions } = h.status('NamespacePolicy', 'p') as {
    readonly deletions?: { readonly underway?: readonly string[] };
  };
  return deletions?.underway ?? [];
}

async function started(): Promise<Harness> {
  const h = harness();
  for (let index = 0; index < 450; index += 1) h.namespace(`n${index}`, team);
  h.policy('p', bindingPolicy({ maxDeletions: 500 }));
  h.start();
  await h.settle();
  return h;
}

const shrink = (h: Harness): void =>
  h.policy('p', bindingPolicy({ maxDeletions: 500, match: { names: ['n0'] } }));

/** A change may delete 449 objects, and none is deleted before the process ends. Then only three may be deleted. */
async function interrupted(h: Harness): Promise<void> {
  h.memory.before = ({ verb }) => {
    if (verb === 'delete') throw failure(503);
  };
  shrink(h);
  await h.settle();
  expect(underway(h)).toHaveLength(200);
  await h.stop();
  h.memory.before = () => undefined;
  h.policy('p', bindingPolicy({ maxDeletions: 3 }));
}

test('more deletions than a status can name are carried out in batches', async () => {
  const h = await started();
  let most = 0;
  h.memory.after = () => {
    most = Math.max(most, underway(h).length);
  };
  shrink(h);
  await h.settle();
  expect([left(h), most]).toEqual([1, 200]);
});

test('what was allowed for objects that are wanted again lets no others pass after a restart', async () => {
  const h = await started();
  await interrupted(h);
  h.start();
  await h.settle();
  leave(
    h,
    Array.from({ length: 10 }, (_, index) => `n${index}`),
  );
  await h.settle(3500);
  expect([left(h), held(h)]).toMatchObject([450, { count: 10 }]);
});

test('what was allowed before a restart does not let as many others pass', async () => {
  const h = await started();
  await interrupted(h);
  const named = new Set(underway(h));
  const others = h.memory.list('RoleBinding').filter(({ metadata }) => !named.has(metadata.uid ?? ''));
  leave(
    h,
    others.map(({ metadata }) => metadata.namespace ?? ''),
  );
  h.start();
  await h.settle();
  expect([left(h), held(h)]).toMatchObject([450, { count: 250 }]);
});
