// Property of the fuse: a provider loses at most its limit within ten minutes, plus what is confirmed, plus its limit again for
// its deletion.
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownerAnnotation } from '../../src/schema/names.ts';
import { parseProviderId } from '../../src/policy/terms/provider-id.ts';
import { bindingPolicy } from '../support/provided.ts';
import type { MemoryRequest } from '../support/memory-cluster.ts';
import { Harness, refTo } from '../support/reconcile-harness.ts';
import { propertyRuns } from '../support/property-runs.ts';

const limit = 2;
const namespaces = Array.from({ length: 8 }, (_, index) => `n${index}`);
const tenMinutes = 600_000;
/** A deletion can follow a confirmation so much later: it waits, or its status is stored first. */
const slackMs = 60_000;

interface Happened {
  readonly owner: string;
  readonly at: number;
}

/** What lets a provider lose more objects than its limit. */
interface Allowance extends Happened {
  readonly count: number;
}

/** Returns every deletion of an object by Reeve, with the UID of its owner. */
function deletionsOf(h: Harness): readonly Happened[] {
  const deletions: Happened[] = [];
  const owners = new WeakMap<MemoryRequest, string>();
  h.memory.before = (request) => {
    const owner = parseProviderId(h.memory.get(request.ref)?.metadata.annotations?.[ownerAnnotation]);
    owners.set(request, (owner === undefined ? undefined : h.known(owner)?.uid) ?? '');
  };
  h.memory.after = (request) => {
    if (request.verb === 'delete')
      deletions.push({ owner: owners.get(request) ?? '', at: h.clock.monotonic() });
  };
  return deletions;
}

/** Returns how many deletions within ten minutes go beyond what is allowed in them. */
function excess(deletions: readonly Happened[], allowances: readonly Allowance[]): number {
  const counts = deletions.map(({ owner, at: from }) => {
    const isIn = (each: Happened, slack: number): boolean =>
      each.owner === owner && each.at >= from - slack && each.at < from + tenMinutes;
    const more = allowances.filter((each) => isIn(each, slackMs)).reduce((sum, { count }) => sum + count, 0);
    return deletions.filter((each) => isIn(each, 0)).length - limit - more;
  });
  return Math.max(0, ...counts);
}

const match = fc.constantFrom<object>(
  { namespaceSelector: { matchLabels: { a: 'yes' } } },
  { namespaceSelector: { matchLabels: { a: 'no' } } },
  { names: ['n0', 'n1', 'n2'] },
  { names: ['*'] },
  { names: ['none'] },
);

const byLabels = { namespaceSelector: { matchLabels: { a: 'yes' } } };

const outside = [
  fc.record({
    kind: fc.constant('relabel' as const),
    names: fc.subarray(namespaces, { minLength: 1 }),
    a: fc.constantFrom('yes', 'no'),
  }),
  fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 2, 4, 16, 300, 700) }),
  fc.record({ kind: fc.constant('turns' as const), count: fc.nat(12) }),
  fc.record({ kind: fc.constant('restart' as const) }),
  fc.record({ kind: fc.constant('confirm' as const), name: fc.constantFrom('p', 'q'), count: fc.nat(5) }),
];
const op = fc.oneof(...outside);
const anyOp = fc.oneof(
  ...outside,
  fc.record({ kind: fc.constant('policy' as const), name: fc.constantFrom('p', 'q'), term: match }),
  fc.record({ kind: fc.constant('delete' as const), name: fc.constantFrom('p', 'q') }),
);

type Op = typeof anyOp extends fc.Arbitrary<infer T> ? T : never;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

function isDeleted(h: Harness, name: string): boolean {
  return h.get('NamespacePolicy', name)?.metadata.deletionTimestamp !== undefined;
}

/** Returns what the change allows. */
async function happen(h: Harness, each: Op): Promise<readonly Allowance[]> {
  const uidOf = (name: string): string => h.get('NamespacePolicy', name)?.metadata.uid ?? '';
  const allowed = (name: string, count: number): readonly Allowance[] => [
    { owner: uidOf(name), at: h.clock.monotonic(), count },
  ];
  switch (each.kind) {
    case 'relabel':
      for (const name of each.names) h.namespace(name, { a: each.a });
      return [];
    case 'policy':
      if (isDeleted(h, each.name)) return [];
      h.policy(each.name, bindingPolicy({ maxDeletions: limit, match: each.term }));
      return [];
    case 'delete': {
      const result = allowed(each.name, limit);
      h.memory.delete(refTo('NamespacePolicy', each.name));
      return result;
    }
    case 'confirm': {
      if (h.get('NamespacePolicy', each.name) === undefined) return [];
      const annotations = { 'reeve.dev/confirm-deletions': String(each.count) };
      h.memory.change(refTo('NamespacePolicy', each.name), { metadata: { annotations } });
      return allowed(each.name, each.count);
    }
    case 'restart':
      await h.stop();
      h.start();
      return [];
    case 'wait':
      await h.clock.advance(each.seconds * 1000);
      return [];
    case 'turns':
      await turns(each.count);
      return [];
    default:
      return each satisfies never;
  }
}

/** Starts with two policies that want the same object in every namespace, and returns what went beyond the limit. */
async function excessAfter(ops: readonly Op[], latency: number, term: object): Promise<number> {
  const h = new Harness();
  const deletions = deletionsOf(h);
  h.memory.latency = () => latency;
  for (const name of namespaces) h.namespace(name, { a: 'yes' });
  h.policy('p', bindingPolicy({ maxDeletions: limit, match: term }));
  h.policy('q', bindingPolicy({ maxDeletions: limit, match: term }, { name: 'others' }));
  h.start();
  await h.settle();
  const allowances: Allowance[] = [];
  for (const each of ops) allowances.push(...(await happen(h, each)));
  await h.settle(200_000);
  checkHeld(h, !ops.some(({ kind }) => kind === 'policy'));
  // A new process has nothing to write, and deletes nothing more.
  await h.clock.advance(2 * tenMinutes);
  await h.settle();
  h.takeWrites();
  await h.stop();
  h.start();
  await h.settle(20_000);
  expect(h.takeWrites()).toEqual([]);
  await h.end();
  return excess(deletions, allowances);
}

/** Every object that a policy owns is wanted or held, and the status names the number of those held. */
function checkHeld(h: Harness, isApart: boolean): void {
  for (const name of ['p', 'q']) {
    const policy = h.get('NamespacePolicy', name);
    if (policy === undefined) continue;
    const owned = h.memory
      .list('RoleBinding')
      .filter(({ metadata }) => metadata.annotations?.[ownerAnnotation] === `NamespacePolicy/${name}`);
    const { desired, conflicts, held } = h.status('NamespacePolicy', name) as {
      readonly desired?: number;
      readonly conflicts?: number;
      readonly held?: { readonly count: number };
    };
    // Where both policies want one object, it counts for both.
    if (isApart) expect(owned.length, name).toBe((desired ?? 0) - (conflicts ?? 0) + (held?.count ?? 0));
    const isStalled = h.condition('NamespacePolicy', name, 'Stalled')?.['reason'] === 'TooManyDeletions';
    expect(isStalled, name).toBe(held !== undefined);
  }
}

const relabel = (a: 'yes' | 'no', ...names: readonly string[]): Op => ({
  kind: 'relabel',
  names: [...names],
  a,
});

/** What was found once: two namespaces leave, then two others within ten minutes, over a restart. */
const slowly: Op[] = [
  relabel('no', 'n0', 'n1'),
  { kind: 'wait', seconds: 16 },
  { kind: 'restart' },
  { kind: 'wait', seconds: 300 },
  relabel('no', 'n2', 'n3'),
  { kind: 'wait', seconds: 700 },
  { kind: 'restart' },
];

test('no provider loses more objects in ten minutes than its limit and its confirmations allow', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 30 }), fc.nat(2), async (ops, latency) => {
      expect(await excessAfter(ops, latency, byLabels)).toBe(0);
    }),
    {
      numRuns: propertyRuns(200),
      examples: [
        [slowly, 0],
        [slowly, 2],
      ],
    },
  );
});

/** Lets the watch report the end of some objects before their deletions are answered. */
const toldBeforeAnswered: Op[] = [
  { kind: 'policy', name: 'q', term: byLabels },
  { kind: 'policy', name: 'p', term: { names: ['n0', 'n1', 'n2'] } },
  { kind: 'turns', count: 4 },
  { kind: 'delete', name: 'q' },
  { kind: 'delete', name: 'p' },
  { kind: 'wait', seconds: 1 },
];

/** Deletes a policy while a deletion of one of its objects is on its way. */
const deletedMeanwhile: Op[] = [
  { kind: 'policy', name: 'p', term: { namespaceSelector: { matchLabels: { a: 'no' } } } },
  relabel('no', 'n0'),
  { kind: 'turns', count: 2 },
  { kind: 'policy', name: 'p', term: byLabels },
  { kind: 'delete', name: 'p' },
];

/** Creates a policy again while the finalizer of its namesake is on its way. */
const createdAgain: Op[] = [
  { kind: 'delete', name: 'p' },
  { kind: 'turns', count: 4 },
  { kind: 'policy', name: 'p', term: byLabels },
  { kind: 'delete', name: 'p' },
  { kind: 'policy', name: 'p', term: byLabels },
];

/** Leaves as many objects as the limit allows before any status says that the fuse holds them. */
const fewerHeld: Op[] = [
  { kind: 'policy', name: 'p', term: { names: ['n0', 'n1', 'n2'] } },
  { kind: 'wait', seconds: 1 },
  { kind: 'policy', name: 'p', term: { namespaceSelector: { matchLabels: { a: 'no' } } } },
  relabel('no', 'n0'),
];

test('the limit holds for changes of the spec together with all else, and the deletion of a provider is judged alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyOp, { minLength: 1, maxLength: 30 }), fc.nat(2), async (ops, latency) => {
      expect(await excessAfter(ops, latency, { names: ['*'] })).toBe(0);
    }),
    {
      numRuns: propertyRuns(200),
      examples: [
        [toldBeforeAnswered, 2],
        [deletedMeanwhile, 1],
        [createdAgain, 1],
        [fewerHeld, 0],
      ],
    },
  );
});
