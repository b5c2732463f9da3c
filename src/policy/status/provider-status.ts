// The status of a policy or share as it is to be stored, and whether what is stored differs from it.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';
import { kindOfProvider, type ProviderState } from '../terms/provider-id.ts';
import { conditionOf, stamped } from './condition.ts';
import type { UnsyncedObject } from './provider-report.ts';
import type { NamespaceViolation } from './provider-tally.ts';
import { providerConditions, type ProviderFacts } from './provider-conditions.ts';

export interface StatusFacts extends ProviderFacts {
  readonly matched: number;
  readonly violations: { readonly count: number; readonly top: readonly NamespaceViolation[] };
  /** Whether nothing is left that a confirmation could be for. */
  readonly isConfirmationSpent: boolean;
}

/** As long as a text of a status may be. */
const longestNote = 1024;

/** `stored`: the status that the object has now. */
export function providerStatus(facts: StatusFacts, stored: unknown, now: Date): JsonObject {
  const { state } = facts;
  const observedGeneration = state.generation;
  const conditions = providerConditions(facts).map((condition) => ({
    ...stamped(condition, conditionOf(stored, condition.type), now),
    observedGeneration,
  }));
  const confirmationUsed = spentConfirmation(state, facts.isConfirmationSpent);
  return {
    // Of what does not load nothing can be counted, and everything is kept as it was when it did.
    ...(state.isValid ? countedFields(facts) : keptFields(stored)),
    observedGeneration,
    ...(confirmationUsed === undefined ? {} : { confirmationUsed }),
    conditions,
  };
}

function countedFields({ state, counts, failures, matched, violations }: StatusFacts): JsonObject {
  const { desired, synced, conflicts, failed } = counts;
  return {
    ...(kindOfProvider(state.id) === 'NamespacePolicy' ? policyFields(matched, violations) : {}),
    desired,
    synced,
    conflicts,
    failed,
    failures: failures.map(failureNote),
  };
}

function keptFields(stored: unknown): JsonObject {
  if (!isJsonObject(stored)) return {};
  const { confirmationUsed: _used, ...kept } = stored;
  return kept;
}

function policyFields(matched: number, { count, top }: StatusFacts['violations']): JsonObject {
  return { matched, violations: count, topViolations: top.map(violationNote) };
}

/** Spent until it is changed or removed. */
function spentConfirmation(
  { confirmation, confirmationUsed }: ProviderState,
  isSpent: boolean,
): string | undefined {
  if (confirmation === undefined) return undefined;
  return isSpent || confirmation === confirmationUsed ? confirmation.slice(0, longestNote) : undefined;
}

function failureNote(failure: UnsyncedObject): JsonObject {
  return notes({ ...failure });
}

function violationNote({ namespace, rule, path, found, accepted }: NamespaceViolation): JsonObject {
  return notes({ namespace, rule, path, found, accepted });
}

function notes(fields: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, clipped(text, longestNote)]));
}

/** The merge patch that makes one of the other; undefined when they are the same. */
export function statusPatch(stored: unknown, wanted: JsonObject): JsonObject | undefined {
  const before = isJsonObject(stored) ? stored : {};
  const surplus = Object.keys(before).filter((field) => !Object.hasOwn(wanted, field));
  const changed = Object.entries(wanted).filter(
    ([field, value]) => !isDeepStrictEqual(ownMember(before, field), value),
  );
  if (surplus.length === 0 && changed.length === 0) return undefined;
  return { ...Object.fromEntries(surplus.map((field) => [field, null])), ...Object.fromEntries(changed) };
}
