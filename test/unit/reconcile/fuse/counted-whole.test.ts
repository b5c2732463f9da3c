// Deletions that no review has counted: when they are counted, what is held, and what ends a hold.
import { describe, expect, test } from 'vitest';
import { failure } from '../../../support/memory-objects.ts';
import { bindingPolicy, team } from '../../../support/provided.ts';
import { refTo, type Harness } from '../../../support/reconcile-harness.ts';
import { useHarness } from '../../../support/use-harness.ts';

const harness = useHarness();
const left = (h: Harness): number => h.memory.list('RoleBinding').length;
const held = (h: Harness): unknown => h.status('NamespacePolicy', 'p')['held'];
const deletions = (h: Harness): unknown => h.status('NamespacePolicy', 'p')['deletions'];
const ready = (h: Harness): unknown => h.condition('NamespacePolicy', 'p')?.['reason'];

/** Starts with ten namespaces. Three objects may be deleted at once. */
async function started(): Promise<Harness> {
  const h = harness();
  for (let index = 0; index < 10; index += 1) h.namespace(`n${index}`, team);
  h.policy('p', bindingPolicy({ maxDeletions: 3 }));
  h.start();
  await h.settle();
  expect(left(h)).toBe(10);
  return h;
}

const leave = (h: Harness, ...numbers: readonly number[]): void =>
  numbers.forEach((number) => h.namespace(`n${number}`, {}));
const comeBack = (h: Harness, ...numbers: readonly number[]): void =>
  numbers.forEach((number) => h.namespace(`n${number}`, team));

async function confirm(h: Harness, count: string): Promise<void> {
  const annotations = { 'reeve.dev/confirm-deletions': count };
  h.memory.change(refTo('NamespacePolicy', 'p'), { metadata: { annotations } });
  await h.settle();
}

async function restart(h: Harness): Promise<void> {
  await h.stop();
  h.start();
}

/** Lets so many seconds pass, with all the work that they bring. */
async function pass(h: Harness, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await h.quiet();
    await h.clock.advance(1000);
  }
  await h.quiet();
}

describe('namespaces that leave', () => {
  test('namespaces that leave one after another are counted together before the first object is deleted', async () => {
    const h = await started();
    for (const number of [0, 1, 2, 3]) {
      leave(h, number);
      await pass(h, 2);
      expect(left(h)).toBe(10);
    }
    await h.settle();
    expect([left(h), held(h)]).toEqual([10, { count: 4, since: expect.any(String) as string }]);
  });

  test('namespaces that leave without a pause are counted after 15 seconds', async () => {
    const h = await started();
    for (const number of [0, 1, 2, 3, 4, 5, 6]) {
      leave(h, number);
      await pass(h, 2);
      expect([left(h), held(h)]).toEqual([10, undefined]);
    }
    leave(h, 7);
    await pass(h, 2);
    expect(held(h)).toMatchObject({ count: 8 });
  });

  test('objects are deleted three seconds after the last namespace has left, and not before', async () => {
    const h = await started();
    leave(h, 0, 1, 2);
    await pass(h, 2);
    expect(left(h)).toBe(10);
    await pass(h, 2);
    expect([left(h), ready(h)]).toEqual([7, 'Synced']);
  });

  test('namespaces that come back before the count are not counted', async () => {
    const h = await started();
    leave(h, 0, 1, 2, 3, 4);
    await pass(h, 1);
    comeBack(h, 0, 1, 2);
    await h.settle();
    expect([left(h), held(h)]).toEqual([8, undefined]);
  });

  test('one status write for the whole batch precedes its deletions', async () => {
    const h = await started();
    leave(h, 0, 1, 2);
    await pass(h, 2);
    h.takeWrites();
    await h.settle();
    const writes = h.takeWrites().map(({ verb, kind }) => `${verb} ${kind}`);
    const first = writes.findIndex((each) => each === 'delete RoleBinding');
    expect(writes.slice(0, first).filter((each) => each.endsWith('NamespacePolicy'))).toHaveLength(1);
    expect(writes.filter((each) => each.endsWith('NamespacePolicy')).length).toBeLessThanOrEqual(2);
  });

  test('deletions within ten minutes count together, also over a restart', async () => {
    const h = await started();
    leave(h, 0, 1);
    await h.settle();
    expect(left(h)).toBe(8);
    await h.clock.advance(540_000);
    await restart(h);
    leave(h, 2, 3);
    await h.settle();
    expect([left(h), held(h)]).toEqual([8, { count: 2, since: expect.any(String) as string }]);
    expect(h.condition('NamespacePolicy', 'p')?.['message']).toMatch(
      /^2 objects would be deleted, after 2 in the ten minutes before, and maxDeletions is 3; .*=2 --overwrite$/,
    );
  });

  test('a clock that jumps by an hour lets no more objects pass', async () => {
    const h = await started();
    leave(h, 0, 1);
    await h.settle();
    const told = h.clock.now();
    h.clock.now = () => new Date(told.getTime() + 3_600_000);
    leave(h, 2, 3);
    await h.settle();
    expect([left(h), held(h)]).toMatchObject([8, { count: 2 }]);
  });

  test('deletions more than ten minutes apart are judged alone', async () => {
    const h = await started();
    leave(h, 0, 1);
    await h.settle();
    await h.clock.advance(611_000);
    leave(h, 2, 3);
    await h.settle();
    expect([left(h), held(h)]).toEqual([6, undefined]);
  });

  test('namespaces that leave during a restart are counted with those that waited before it', async () => {
    const h = await started();
    leave(h, 0, 1, 2);
    await pass(h, 1);
    await h.stop();
    leave(h, 3);
    h.start();
    await h.settle();
    expect([left(h), held(h)]).toEqual([10, { count: 4, since: expect.any(String) as string }]);
  });
});

test('a change of the spec deletes what its review counted without a wait', async () => {
  const h = await started();
  h.policy('p', bindingPolicy({ maxDeletions: 3, match: { ...teamsBut('n0', 'n1') } }));
  await h.quiet();
  expect(left(h)).toBe(8);
});

test('a change of the spec does not let objects of namespaces pass that left before it', async () => {
  const h = await started();
  leave(h, 0, 1, 2);
  await pass(h, 1);
  h.policy('p', bindingPolicy({ maxDeletions: 3, match: { ...teamsBut('n3', 'n0') } }));
  await h.quiet();
  expect(h.get('RoleBinding', 'devs', 'n3')).toBeUndefined();
  expect(left(h)).toBe(9);
  await h.settle();
  expect([left(h), held(h)]).toEqual([9, { count: 3, since: expect.any(String) as string }]);
});

test('the deletions of a change of the spec are held while others are held', async () => {
  const h = await started();
  leave(h, 0, 1, 2, 3);
  await h.settle();
  h.policy('p', bindingPolicy({ maxDeletions: 3, match: { ...teamsBut('n4') } }));
  await h.settle();
  expect([left(h), held(h)]).toEqual([10, { count: 5, since: expect.any(String) as string }]);
});

function teamsBut(...names: readonly string[]): object {
  return { namespaceSelector: { matchLabels: team }, excludeNames: names };
}

describe('a hold', () => {
  async function holding(): Promise<Harness> {
    const h = await started();
    leave(h, 0, 1, 2, 3);
    await h.settle();
    expect([left(h), held(h)]).toMatchObject([10, { count: 4 }]);
    return h;
  }

  test('a hold outlives any time and any restart', async () => {
    const h = await started();
    leave(h, 0, 1);
    await h.settle();
    leave(h, 2, 3);
    await h.settle();
    const before = held(h);
    for (let round = 0; round < 3; round += 1) {
      await h.settle(1_200_000);
      await restart(h);
      await h.settle();
      expect([left(h), held(h), ready(h)]).toEqual([8, before, 'TooManyDeletions']);
    }
  });

  test('a new leader writes nothing while objects are held', async () => {
    const h = await holding();
    h.takeWrites();
    await restart(h);
    await h.settle();
    expect(h.takeWrites()).toEqual([]);
  });

  test('a hold ends when its number is confirmed, and a restart does not lose the confirmation', async () => {
    const h = await holding();
    h.memory.before = ({ verb }) => {
      if (verb === 'delete') throw failure(503);
    };
    await confirm(h, '4');
    expect([left(h), held(h), h.status('NamespacePolicy', 'p')['confirmationUsed']]).toEqual([
      10,
      undefined,
      '4',
    ]);
    h.memory.before = () => undefined;
    await restart(h);
    await h.settle();
    expect([left(h), ready(h)]).toEqual([6, 'Synced']);
  });

  test('a confirmation of an earlier number does not end a hold', async () => {
    const h = await holding();
    leave(h, 4);
    await h.settle();
    await confirm(h, '4');
    expect([left(h), held(h)]).toMatchObject([10, { count: 5 }]);
    await confirm(h, '5');
    expect(left(h)).toBe(5);
  });

  test('objects that join after a confirmation are held again', async () => {
    const h = await holding();
    await confirm(h, '9');
    expect(left(h)).toBe(6);
    leave(h, 4);
    await h.settle();
    expect([left(h), held(h)]).toMatchObject([6, { count: 1 }]);
    await confirm(h, '1');
    expect(left(h)).toBe(5);
  });

  test('a hold ends when all namespaces are back', async () => {
    const h = await holding();
    comeBack(h, 0, 1, 2, 3);
    await h.settle();
    expect([left(h), held(h), ready(h)]).toEqual([10, undefined, 'Synced']);
  });

  test('nothing is deleted while namespaces come back one after another', async () => {
    const h = await holding();
    for (const number of [0, 1, 2, 3]) {
      comeBack(h, number);
      await pass(h, 2);
      expect(left(h)).toBe(10);
    }
    await h.settle();
    expect([left(h), held(h)]).toEqual([10, undefined]);
  });

  test('a hold ends three seconds after enough namespaces are back, and the others lose their objects', async () => {
    const h = await holding();
    comeBack(h, 0);
    await pass(h, 2);
    expect(left(h)).toBe(10);
    await h.settle();
    expect([left(h), held(h)]).toEqual([7, undefined]);
  });

  test('a hold ends when the limit is raised to its number', async () => {
    const h = await holding();
    h.policy('p', bindingPolicy({ maxDeletions: 4 }));
    await h.settle();
    expect([left(h), held(h)]).toEqual([6, undefined]);
  });

  test('a hold ends when the objects are to be left behind', async () => {
    const h = await holding();
    h.policy('p', bindingPolicy({ maxDeletions: 3, deletionPolicy: 'Orphan' }));
    await h.settle();
    expect([left(h), held(h), ready(h)]).toEqual([10, undefined, 'Synced']);
    expect(h.get('RoleBinding', 'devs', 'n0')?.metadata.annotations).not.toHaveProperty('reeve.dev/owner');
  });

  test('a confirmation that was removed and is set again confirms again', async () => {
    const h = await holding();
    await confirm(h, '4');
    h.memory.change(refTo('NamespacePolicy', 'p'), {
      metadata: { annotations: { 'reeve.dev/confirm-deletions': null } },
    });
    await h.settle();
    leave(h, 4, 5, 6, 7);
    await h.settle();
    expect([left(h), held(h)]).toMatchObject([6, { count: 4 }]);
    await confirm(h, '4');
    expect(left(h)).toBe(2);
  });

  test('a hold outlives a suspension and a version that does not load', async () => {
    const h = await started();
    leave(h, 0, 1);
    await h.settle();
    leave(h, 2, 3);
    await h.settle();
    for (const spec of [bindingPolicy({ maxDeletions: 3, suspend: true }), { nonsense: 1 }]) {
      h.policy('p', spec);
      await h.settle(1_200_000);
      await restart(h);
      await h.settle();
      h.policy('p', bindingPolicy({ maxDeletions: 3 }));
      await h.settle();
      expect([left(h), held(h)]).toMatchObject([8, { count: 2 }]);
    }
  });
});

describe('a process that ends between the status and the deletions', () => {
  /** Three objects may be deleted, and none is. */
  async function interrupted(): Promise<Harness> {
    const h = await started();
    h.memory.before = ({ verb }) => {
      if (verb === 'delete') throw failure(503);
    };
    leave(h, 0, 1, 2);
    await h.settle(3500);
    expect([left(h), deletions(h)]).toMatchObject([10, { underway: { length: 3 } }]);
    await h.stop();
    h.memory.before = () => undefined;
    return h;
  }

  test('a deletion that was allowed before a restart is counted once', async () => {
    const h = await interrupted();
    h.start();
    await h.settle();
    expect([left(h), held(h)]).toEqual([7, undefined]);
  });

  test('an object that was allowed before a restart and is deleted counts after the restart', async () => {
    const h = await interrupted();
    for (const name of ['n0', 'n1', 'n2']) h.memory.delete(refTo('RoleBinding', 'devs', name));
    leave(h, 3);
    h.start();
    await h.settle();
    expect([left(h), held(h)]).toMatchObject([7, { count: 1 }]);
  });

  test('what was allowed for some objects before a restart does not let others pass', async () => {
    const h = await interrupted();
    comeBack(h, 0, 1, 2);
    leave(h, 3, 4, 5, 6);
    h.start();
    await h.settle();
    expect([left(h), held(h)]).toMatchObject([10, { count: 4 }]);
  });
});
