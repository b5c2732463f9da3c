// Waits a moment for the intents that a binding names: one file can hold both, and the watch reports an intent a little later.
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/kube-object.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import type { ProviderReview } from '../policy/terms/review.ts';
import type { Deadline } from './http/deadline.ts';
import type { SnapshotSource } from './ports.ts';

const pollMs = 20;
const maxWaitMs = 500;
/** The rest of the time is for the decision. */
const waitingShare = 0.5;

/** Returns the newest snapshot. It lacks an intent that does not exist, or that the watch has not reported in half a second. */
export async function withNamedIntents(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  newest: SnapshotSource,
  deadline: Pick<Deadline, 'remaining'>,
): Promise<ClusterSnapshot> {
  const names = addedIntents(review);
  const { remaining } = deadline;
  const leftMs = remaining - Math.min(maxWaitMs, remaining * waitingShare);
  let current = snapshot;
  while (!hasAll(current, names) && deadline.remaining > leftMs) {
    await sleep(pollMs);
    current = newest() ?? current;
  }
  return current;
}

/** Returns what the old binding did not name. Otherwise each write of a binding whose intent is missing would wait. */
function addedIntents({ resource, object, oldObject }: ProviderReview): readonly string[] {
  if (!resource.endsWith('bindings')) return [];
  const known = new Set(namedIntents(oldObject));
  return namedIntents(object).filter((name) => !known.has(name));
}

function namedIntents(binding: KubeObject | undefined): readonly string[] {
  const spec = binding?.['spec'];
  const intents = isJsonObject(spec) ? spec['intents'] : undefined;
  return Array.isArray(intents) ? intents.filter((name) => typeof name === 'string') : [];
}

function hasAll({ intents }: ClusterSnapshot, names: readonly string[]): boolean {
  return names.every((name) => intents.context.intents.has(name));
}
