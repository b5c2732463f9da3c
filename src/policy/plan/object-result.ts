// The result for one object of a provider in a namespace: in sync, in conflict, failed, or not to be there.
import type { ProviderId } from '../terms/provider-id.ts';
import type { ObjectKey } from '../compile/object-key.ts';

export interface ObjectResult {
  readonly owner: ProviderId;
  readonly key: ObjectKey;
  /** `undesired`: the object still exists but is no longer wanted. It does not count as desired. */
  readonly state: 'synced' | 'conflict' | 'failed' | 'undesired';
  /** One word in CamelCase, as in a condition. */
  readonly reason: string;
  readonly message: string;
  /** False where another provider provides the object, so that the namespace has it. */
  readonly isMissing: boolean;
}

type About = Pick<ObjectResult, 'owner' | 'key'>;

export function syncedResult({ owner, key }: About): ObjectResult {
  return { owner, key, state: 'synced', reason: 'Synced', message: '', isMissing: false };
}

export function conflictResult(
  { owner, key }: About,
  reason: string,
  message: string,
  isMissing = true,
): ObjectResult {
  return { owner, key, state: 'conflict', reason, message, isMissing };
}

export function failedResult({ owner, key }: About, reason: string, message: string): ObjectResult {
  return { owner, key, state: 'failed', reason, message, isMissing: true };
}

export function undesiredResult({ owner, key }: About, reason: string, message: string): ObjectResult {
  return { owner, key, state: 'undesired', reason, message, isMissing: false };
}
