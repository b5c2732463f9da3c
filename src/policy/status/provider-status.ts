// Builds the status of a provider, and the patch that turns the stored status into it.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { clipped } from '../../base/text.ts';
import { deletionFields, deletionRecordOf, type DeletionRecord } from '../terms/deletion-record.ts';
import { kinds } from '../../api/kinds.ts';
import { kindOfProvider, type ProviderState } from '../terms/provider-id.ts';
import { conditionOf, stamped } from '../../base/condition.ts';
import { waveFields } from '../plan/waves.ts';
import type { PemBundle } from '../plan/pem-bundle.ts';
import { intentFields } from './intents.ts';
import type { UnsyncedObject } from './namespace-ready.ts';
import type { NamespaceViolation } from './provider-tally.ts';
import { providerConditions, type ProviderFacts } from './provider-conditions.ts';

export interface StatusFacts extends ProviderFacts {
  /** The first namespaces that match. */
  readonly matchedNamespaces: readonly string[];
  /** True if the fuse holds nothing that the confirmation could release. */
  readonly isConfirmationSpent: boolean;
  /** The deletions to remember in the status. Undefined: those that it already holds. */
  readonly deletions?: DeletionRecord | undefined;
}

/** The longest text that the CRD allows in a status. */
const maxTextLength = 1024;

/** `stored` is the current status of the object. */
export function providerStatus(facts: StatusFacts, stored: unknown, now: Date): JsonObject {
  const { state } = facts;
  const observedGeneration = state.generation;
  const conditions = providerConditions(facts).map((condition) => ({
    ...stamped(condition, conditionOf(stored, condition.type), now),
    observedGeneration,
  }));
  const confirmationUsed = spentConfirmation(state, facts.isConfirmationSpent);
  return {
    // Without a valid version there is nothing to count, so the fields of the last valid version stay.
    ...(state.isValid ? countedFields(facts) : keptFields(stored)),
    observedGeneration,
    ...(confirmationUsed === undefined ? {} : { confirmationUsed }),
    ...deletionFields(facts.deletions ?? deletionRecordOf(stored)),
    conditions,
  };
}

/** A status has the fields that its kind defines. */
function countedFields(facts: StatusFacts): JsonObject {
  const { state, counts, failures, skipped, violations, matched, matchedNamespaces } = facts;
  const bundle = facts.source?.kind === 'ready' ? facts.source.payload.bundle : undefined;
  const fields = {
    matched,
    matchedNamespaces: [...matchedNamespaces],
    ...(facts.intents === undefined ? {} : intentFields(facts.intents)),
    skipped: counts.skipped,
    violations: violations.count,
    violationsByResource: violations.byResource,
    topViolations: violations.top.map(violationEntry),
    skippedContents: skipped.map((each) => clippedFields({ ...each })),
    desired: counts.desired,
    synced: counts.synced,
    conflicts: counts.conflicts,
    failed: counts.failed,
    failures: failures.map(failureEntry),
    ...(facts.waves === undefined ? {} : { waves: waveFields(facts.waves.record) }),
    ...(bundle === undefined ? {} : { bundle: bundleFields(bundle) }),
  };
  const known = kinds[kindOfProvider(state.id)].schemas.status?.fields ?? {};
  return Object.fromEntries(Object.entries(fields).filter(([field]) => Object.hasOwn(known, field)));
}

function bundleFields({ certificates, duplicates, expired }: PemBundle): JsonObject {
  return { certificates, duplicates, expired };
}

function keptFields(stored: unknown): JsonObject {
  if (!isJsonObject(stored)) return {};
  const { confirmationUsed: _used, held: _held, deletions: _deletions, ...kept } = stored;
  return kept;
}

/** Returns the confirmation that is spent until the annotation changes. */
function spentConfirmation(
  { confirmation, confirmationUsed }: ProviderState,
  isSpent: boolean,
): string | undefined {
  if (confirmation === undefined) return undefined;
  return isSpent || confirmation === confirmationUsed ? confirmation.slice(0, maxTextLength) : undefined;
}

function failureEntry(failure: UnsyncedObject): JsonObject {
  return clippedFields({ ...failure });
}

function violationEntry({ namespace, kind, name, ...rest }: NamespaceViolation): JsonObject {
  const { rule, path, found, accepted } = rest;
  const object = kind === undefined || name === undefined ? {} : { kind, name };
  return clippedFields({ namespace, ...object, rule, path, found, accepted });
}

function clippedFields(fields: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => [name, clipped(text, maxTextLength)]),
  );
}

/**
 * Returns the JSON merge patch from `stored` to `wanted`, or undefined if they are equal. A removed field is null, because a
 * merge patch keeps fields that it leaves out: https://www.rfc-editor.org/rfc/rfc7396
 */
export function statusPatch(stored: unknown, wanted: JsonObject): JsonObject | undefined {
  const before = isJsonObject(stored) ? stored : {};
  const surplus = Object.keys(before).filter((field) => !Object.hasOwn(wanted, field));
  const changed = Object.entries(wanted).filter(
    ([field, value]) => !isDeepStrictEqual(ownMember(before, field), value),
  );
  if (surplus.length === 0 && changed.length === 0) return undefined;
  return {
    ...Object.fromEntries(surplus.map((field) => [field, null])),
    ...Object.fromEntries(
      changed.map(([field, value]) => {
        const inner = ownMember(before, field);
        return [field, isJsonObject(value) && isJsonObject(inner) ? statusPatch(inner, value) : value];
      }),
    ),
  };
}
