// The result for one object of a provider in a namespace: in sync, in conflict, failed, or not to be there.
import type { ProviderId } from '../terms/provider-id.ts';
import type { ObjectKey } from '../compile/object-key.ts';

export interface ObjectResult {
  readonly provider: ProviderId;
  readonly key: ObjectKey;
  /** `undesired`: the object still exists but is no longer wanted. It does not count as desired. */
  readonly state: 'synced' | 'conflict' | 'failed' | 'undesired';
  /** One word in CamelCase, as in a condition. */
  readonly reason: string;
  readonly message: string;
  /** False where another provider provides the object, so that the namespace has it. */
  readonly isMissing: boolean;
}

type About = Pick<ObjectResult, 'provider' | 'key'>;

export function syncedResult({ provider, key }: About): ObjectResult {
  return { provider, key, state: 'synced', reason: 'Synced', message: '', isMissing: false };
}

export function conflictResult(
  { provider, key }: About,
  reason: string,
  message: string,
  isMissing = true,
): ObjectResult {
  return { provider, key, state: 'conflict', reason, message, isMissing };
}

export function failedResult({ provider, key }: About, reason: string, message: string): ObjectResult {
  return { provider, key, state: 'failed', reason, message, isMissing: true };
}

export function undesiredResult({ provider, key }: About, reason: string, message: string): ObjectResult {
  return { provider, key, state: 'undesired', reason, message, isMissing: false };
}
