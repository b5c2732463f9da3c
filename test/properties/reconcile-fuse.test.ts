// Property of the fuse: without a confirmation, a provider loses at most its limit within a minute, and again by each change of its
// spec and by its deletion.
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownerAnnotation } from '../../src/api/names.ts';
import { parseProviderId } from '../../src/policy/terms/provider-id.ts';
import { bindingPolicy } from '../support/provided.ts';
import type { MemoryRequest } from '../support/memory-cluster.ts';
import { Harness, refTo } from '../support/reconcile-harness.ts';
import { propertyRuns } from '../support/property-runs.ts';

const limit = 2;
const namespaces = Array.from({ length: 8 }, (_, index) => `n${index}`);

interface Deletion {
  /**
   * The UID of the provider, and the generation or the DELETE that Reeve knew of when it sent the request: each has a limit of
   * its own. A request that is sent before the watch reports such a write cannot count for it.
   */
  readonly owner: string;
  readonly at: number;
}

/** Returns every deletion of an object by Reeve, with its owner. */
function deletionsOf(h: Harness): readonly Deletion[] {
  const deletions: Deletion[] = [];
  const owners = new WeakMap<MemoryRequest, string>();
  h.memory.before = (request) => {
    const owner = parseProviderId(h.memory.get(request.ref)?.metadata.annotations?.[ownerAnnotation]);
    const known = owner === undefined ? undefined : h.known(owner);
    owners.set(request, `${known?.uid} ${known?.isDeleting === true ? 'deleted' : known?.generation}`);
  };
  h.memory.after = (request) => {
    if (request.verb === 'delete')
      deletions.push({ owner: owners.get(request) ?? '', at: h.clock.monotonic() });
  };
  return deletions;
}

function mostWithinAMinute(deletions: readonly Deletion[]): number {
  const counts = deletions.map(
    ({ owner, at }) =>
      deletions.filter((each) => each.owner === owner && each.at >= at && each.at < at + 60_000).length,
  );
  return Math.max(0, ...counts);
}

const match = fc.constantFrom<object>(
  { namespaceSelector: { matchLabels: { a: 'yes' } } },
  { namespaceSelector: { matchLabels: { a: 'no' } } },
  { names: ['n0', 'n1', 'n2'] },
  { names: ['*'] },
  { names: ['none'] },
);

const op = fc.oneof(
  fc.record({
    kind: fc.constant('relabel' as const),
    name: fc.constantFrom(...namespaces),
    a: fc.constantFrom('yes', 'no'),
  }),
  fc.record({ kind: fc.constant('policy' as const), name: fc.constantFrom('p', 'q'), term: match }),
  fc.record({ kind: fc.constant('delete' as const), name: fc.constantFrom('p', 'q') }),
  fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 20, 61) }),
  fc.record({ kind: fc.constant('turns' as const), count: fc.nat(12) }),
);

type Op = typeof op extends fc.Arbitrary<infer T> ? T : never;

async function happen(h: Harness, each: Op): Promise<void> {
  switch (each.kind) {
    case 'relabel':
      return h.namespace(each.name, { a: each.a });
    case 'policy':
      if (h.get('NamespacePolicy', each.name)?.metadata.deletionTimestamp !== undefined) return;
      return h.policy(each.name, bindingPolicy({ maxDeletions: limit, match: each.term }));
    case 'delete':
      return h.memory.delete(refTo('NamespacePolicy', each.name));
    case 'wait':
      return await h.clock.advance(each.seconds * 1000);
    case 'turns':
      for (let turn = 0; turn < each.count; turn += 1) await setImmediate();
      return undefined;
    default:
      return each satisfies never;
  }
}

/** Lets the watch report the end of some objects before their deletions are answered. */
const toldBeforeAnswered: Op[] = [
  { kind: 'policy', name: 'q', term: { namespaceSelector: { matchLabels: { a: 'yes' } } } },
  { kind: 'policy', name: 'p', term: { names: ['n0', 'n1', 'n2'] } },
  { kind: 'turns', count: 4 },
  { kind: 'delete', name: 'q' },
  { kind: 'delete', name: 'p' },
  { kind: 'wait', seconds: 1 },
];

/** Deletes a policy while a deletion of one of its objects is on its way. */
const deletedMeanwhile: Op[] = [
  { kind: 'policy', name: 'p', term: { namespaceSelector: { matchLabels: { a: 'no' } } } },
  { kind: 'relabel', name: 'n0', a: 'no' },
  { kind: 'turns', count: 2 },
  { kind: 'policy', name: 'p', term: { namespaceSelector: { matchLabels: { a: 'yes' } } } },
  { kind: 'delete', name: 'p' },
];

/** Creates a policy again while the finalizer of its namesake is on its way. */
const createdAgain: Op[] = [
  { kind: 'delete', name: 'p' },
  { kind: 'turns', count: 4 },
  { kind: 'policy', name: 'p', term: { namespaceSelector: { matchLabels: { a: 'yes' } } } },
  { kind: 'delete', name: 'p' },
  { kind: 'policy', name: 'p', term: { namespaceSelector: { matchLabels: { a: 'yes' } } } },
];

/** Leaves as many objects as the limit allows before any status says that the fuse holds them. */
const fewerHeld: Op[] = [
  { kind: 'policy', name: 'p', term: { names: ['n0', 'n1', 'n2'] } },
  { kind: 'wait', seconds: 1 },
  { kind: 'policy', name: 'p', term: { namespaceSelector: { matchLabels: { a: 'no' } } } },
  { kind: 'relabel', name: 'n0', a: 'no' },
];

test('no provider loses more objects in a minute, by a change, or by its deletion than its limit allows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 30 }), fc.nat(2), async (ops, latency) => {
      const h = new Harness();
      const deletions = deletionsOf(h);
      h.memory.latency = () => latency;
      for (const name of namespaces) h.namespace(name, { a: 'yes' });
      for (const name of ['p', 'q']) h.policy(name, bindingPolicy({ maxDeletions: limit }));
      h.start();
      await h.settle();
      for (const each of ops) await happen(h, each);
      await h.settle(200_000);
      expect(mostWithinAMinute(deletions)).toBeLessThanOrEqual(limit);
      // A new process, which knows of no earlier deletion, has nothing to write.
      h.takeWrites();
      await h.stop();
      h.start();
      await h.settle();
      expect(h.takeWrites()).toEqual([]);
      await h.end();
    }),
    {
      numRuns: propertyRuns(300),
      examples: [
        [toldBeforeAnswered, 2],
        [deletedMeanwhile, 1],
        [createdAgain, 1],
        [fewerHeld, 0],
      ],
    },
  );
});
