// The result for one object of a provider in a namespace: in sync, in conflict, failed, or not to be there.
import type { ProviderId } from '../terms/provider-id.ts';
import type { ObjectKey } from '../terms/object-key.ts';

export interface ObjectResult {
  readonly provider: ProviderId;
  readonly key: ObjectKey;
  /** `undesired`: the object still exists but is no longer wanted. It does not count as desired. */
  readonly state: 'synced' | 'conflict' | 'failed' | 'undesired';
  /** One word in CamelCase, as in a condition. */
  readonly reason: string;
  readonly message: string;
}

type About = Pick<ObjectResult, 'provider' | 'key'>;

export function syncedResult({ provider, key }: About): ObjectResult {
  return { provider, key, state: 'synced', reason: 'Synced', message: '' };
}

export const terminatingText = 'the object is being deleted and waits for its finalizers';

const conflictReasons = ['AlreadyExists', 'OwnedByAnother', 'ProvidedByAnother'] as const;

export function isConflict({ reason }: Pick<ObjectResult, 'reason'>): boolean {
  return conflictReasons.some((each) => each === reason);
}

export function conflictResult(
  { provider, key }: About,
  reason: (typeof conflictReasons)[number],
  message: string,
): ObjectResult {
  return { provider, key, state: 'conflict', reason, message };
}

export function failedResult({ provider, key }: About, reason: string, message: string): ObjectResult {
  return { provider, key, state: 'failed', reason, message };
}

export function undesiredResult({ provider, key }: About, reason: string, message: string): ObjectResult {
  return { provider, key, state: 'undesired', reason, message };
}

/** A provider that wants an object just as its owner wants it. */
export interface Follower extends About {
  readonly owner: ProviderId;
}

/** Adds the results of followers: an object that is there satisfies them, too. */
export function withFollowers(
  results: readonly ObjectResult[],
  followers: readonly Follower[],
): readonly ObjectResult[] {
  const copied = followers.flatMap(({ provider, key, owner }) => {
    const result = results.find((each) => each.provider === owner && each.key === key);
    if (result === undefined) return [];
    const message = result.state === 'synced' ? '' : `${owner} provides the same: ${result.message}`;
    return [{ ...result, provider, message }];
  });
  return [...results, ...copied];
}
