// A binding is judged with the intents of its own file, although the watch reports them a moment later.
import { expect, test } from 'vitest';
import { withNamedIntents } from '../../../src/admission/handler.ts';
import { withoutIntents, type ClusterSnapshot } from '../../../src/policy/compile/snapshot.ts';
import { aProviderReview, aSnapshot } from '../../support/engine.ts';

function withIntents(...names: readonly string[]): ClusterSnapshot {
  const intents = new Map(names.map((name) => [name, 'invalid' as const]));
  const context = { ...withoutIntents.context, intents };
  return { ...aSnapshot([]), intents: { ...withoutIntents, context } };
}

const object = { metadata: { name: 'b', namespace: 'shop' }, spec: { intents: ['one', 'two'] } };
const review = aProviderReview({ resource: 'securityintentbindings', object });

/** A deadline whose time passes only with `pass`. */
function deadlineIn(ms: number): { readonly remaining: number; pass(ms: number): void } {
  let remaining = ms;
  return {
    get remaining() {
      return remaining;
    },
    pass: (passed) => void (remaining -= passed),
  };
}

const never = (): never => {
  throw new Error('not asked for');
};
const inTime = deadlineIn(10_000);

test('a binding whose intents are known waits for nothing', async () => {
  const known = withIntents('one', 'two');
  expect(await withNamedIntents(review, known, never, inTime)).toBe(known);
});

test('a binding waits until the watch has reported the last of its intents', async () => {
  const all = withIntents('one', 'two');
  const snapshots = [withIntents('one'), undefined, all];
  expect(await withNamedIntents(review, withIntents(), () => snapshots.shift(), inTime)).toBe(all);
  expect(snapshots).toEqual([]);
});

test.each([
  [10_000, 5],
  [600, 3],
  [0, 0],
])(
  'with %i ms left, a binding waits %i times 100 ms for an intent that does not exist',
  async (ms, waits) => {
    const last = withIntents('one');
    const deadline = deadlineIn(ms);
    let asked = 0;
    const newest = (): ClusterSnapshot => {
      asked += 1;
      deadline.pass(100);
      return last;
    };
    await withNamedIntents(review, last, newest, deadline);
    expect(asked).toBe(waits);
  },
);

test('a write that adds no intent waits for none', async () => {
  const known = withIntents();
  const change = aProviderReview({ resource: 'securityintentbindings', object, oldObject: object });
  expect(await withNamedIntents(change, known, never, inTime)).toBe(known);
});

test('an intent names no other intents', async () => {
  const known = withIntents();
  const intent = aProviderReview({ resource: 'securityintents', object });
  expect(await withNamedIntents(intent, known, never, inTime)).toBe(known);
});
