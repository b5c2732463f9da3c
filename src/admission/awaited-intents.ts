// Waits a moment for the intents that a binding names: one file can hold both, and the watch reports an intent a little later.
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '../base/json.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import type { ProviderReview } from '../policy/terms/review.ts';
import type { SnapshotSource } from './ports.ts';

const pollMs = 20;
const polls = 25;

/** Returns the newest snapshot. It lacks an intent that does not exist, or that the watch has not reported in half a second. */
export async function withNamedIntents(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  newest: SnapshotSource,
): Promise<ClusterSnapshot> {
  const names = namedIntents(review);
  let current = snapshot;
  for (let poll = 0; poll < polls && !hasAll(current, names); poll += 1) {
    await sleep(pollMs);
    current = newest() ?? current;
  }
  return current;
}

function namedIntents(review: ProviderReview): readonly string[] {
  if (!review.resource.endsWith('bindings')) return [];
  const spec = review.object?.['spec'];
  const intents = isJsonObject(spec) ? spec['intents'] : undefined;
  return Array.isArray(intents) ? intents.filter((name) => typeof name === 'string') : [];
}

function hasAll({ intents }: ClusterSnapshot, names: readonly string[]): boolean {
  return names.every((name) => intents.context.intents.has(name));
}
