// The condition reeve.dev/Ready of a Namespace: whether all is there that policies and shares provide.
import { readyCondition } from '../../api/names.ts';
import { clipped } from '../../base/text.ts';
import type { Desired } from '../desired/desired.ts';
import { kindOfKey, nameOfKey } from '../compile/object-key.ts';
import type { ObjectResult } from '../plan/object-result.ts';
import type { Condition } from './condition.ts';

const longestMessage = 1024;

export function namespaceReadiness(
  { claims, frozen }: Pick<Desired, 'claims' | 'frozen'>,
  outcomes: readonly ObjectResult[],
): Condition {
  const missing = firstMissing(outcomes);
  if (missing !== undefined) {
    const { owner, key, reason, message } = missing;
    return notReady(reason, `${kindOfKey(key)} ${nameOfKey(key)} of ${owner}: ${message}`);
  }
  for (const [owner, { reason, message }] of frozen)
    if (reason !== 'Suspended') return notReady(reason, `${owner}: ${message}`);
  // The same words however many there are: a further share must not cost a write in every namespace.
  return claims.size === 0
    ? ready('NothingProvided', 'no policy or share provides anything here')
    : ready('Synced', 'everything that policies and shares provide is there');
}

/** The same one however the work was ordered. */
function firstMissing(outcomes: readonly ObjectResult[]): ObjectResult | undefined {
  return outcomes
    .filter(({ isMissing }) => isMissing)
    .reduce<ObjectResult | undefined>(
      (first, each) => (first === undefined || each.key < first.key ? each : first),
      undefined,
    );
}

function ready(reason: string, message: string): Condition {
  return { type: readyCondition, status: 'True', reason, message };
}

function notReady(reason: string, message: string): Condition {
  return { type: readyCondition, status: 'False', reason, message: clipped(message, longestMessage) };
}
