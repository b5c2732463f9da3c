// A binding is judged with the intents of its own file, although the watch reports them a moment later.
import { expect, test } from 'vitest';
import { withNamedIntents } from '../../../src/admission/awaited-intents.ts';
import { withoutIntents, type ClusterSnapshot } from '../../../src/policy/compile/snapshot.ts';
import { aProviderReview, aSnapshot } from '../../support/engine.ts';

function withIntents(...names: readonly string[]): ClusterSnapshot {
  const intents = new Map(names.map((name) => [name, 'invalid' as const]));
  const context = { ...withoutIntents.context, intents };
  return { ...aSnapshot([]), intents: { ...withoutIntents, context } };
}

const object = { metadata: { name: 'b', namespace: 'shop' }, spec: { intents: ['one', 'two'] } };
const review = aProviderReview({ resource: 'securityintentbindings', object });

test('a binding whose intents are known waits for nothing', async () => {
  const known = withIntents('one', 'two');
  const newest = (): never => {
    throw new Error('not asked for');
  };
  expect(await withNamedIntents(review, known, newest)).toBe(known);
});

test('a binding waits until the watch has reported the last of its intents', async () => {
  const all = withIntents('one', 'two');
  const snapshots = [withIntents('one'), undefined, all];
  expect(await withNamedIntents(review, withIntents(), () => snapshots.shift())).toBe(all);
  expect(snapshots).toEqual([]);
});

test('an intent that does not come is not waited for without end', async () => {
  const last = withIntents('one');
  expect(await withNamedIntents(review, withIntents(), () => last)).toBe(last);
});

test('an intent names no other intents', async () => {
  const known = withIntents();
  const intent = aProviderReview({ resource: 'securityintents', object });
  expect(await withNamedIntents(intent, known, () => undefined)).toBe(known);
});
