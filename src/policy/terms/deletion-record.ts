// Reads and writes the deletions in a status, so that the fuse counts over restarts and changes of the leader.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';

export interface DeletionRecord {
  /** Undefined while nothing is held. Times are milliseconds since the epoch. */
  readonly held: { readonly count: number; readonly since: number } | undefined;
  /** Earlier deletions that count together with later ones, by time. */
  readonly recent: readonly RecentEntry[];
  /** UIDs of the objects that may be deleted now. Some of them can be deleted already. */
  readonly underway: readonly string[];
}

export interface RecentEntry {
  readonly at: number;
  readonly count: number;
}

export const noDeletions: DeletionRecord = { held: undefined, recent: [], underway: [] };

/** Deletions of the last ten minutes count together. */
const recentMs = 600_000;

/** While objects are held, the ten minutes before the hold count, however long it lasts. */
export function windowStart(held: DeletionRecord['held'], now: number): number {
  return (held?.since ?? now) - recentMs;
}

/** Counts the deletions that count together with the next ones. */
export function recentIn({ held, recent }: DeletionRecord, now: Date): number {
  const start = windowStart(held, now.getTime());
  return recent.reduce((sum, { at, count }) => (at > start ? sum + count : sum), 0);
}

/** Adds the deletions that are underway to those of `recentIn`. */
export function countedWithNext(record: DeletionRecord, now: Date): number {
  return recentIn(record, now) + record.underway.length;
}

/** Ignores fields that lack the form of `deletionFields`. */
export function deletionRecordOf(status: unknown): DeletionRecord {
  const held = ownMember(status, 'held');
  const deletions = ownMember(status, 'deletions');
  const [since, recent, underway] = [
    timeOf(ownMember(held, 'since')),
    ownMember(deletions, 'recent'),
    ownMember(deletions, 'underway'),
  ];
  const record = {
    held: since === undefined ? undefined : { count: countOf(ownMember(held, 'count')), since },
    recent: Array.isArray(recent) ? recent.flatMap(entryOf) : [],
    underway: Array.isArray(underway) ? underway.filter((uid) => typeof uid === 'string') : [],
  };
  return isDeepStrictEqual(record, noDeletions) ? noDeletions : record;
}

/** Returns the fields of the status, or none if there is nothing to remember. */
export function deletionFields({ held, recent, underway }: DeletionRecord): JsonObject {
  const deletions = {
    ...(recent.length === 0 ? {} : { recent: recent.map(({ at, count }) => ({ at: timeText(at), count })) }),
    ...(underway.length === 0 ? {} : { underway: [...underway] }),
  };
  return {
    ...(held === undefined ? {} : { held: { count: held.count, since: timeText(held.since) } }),
    ...(Object.keys(deletions).length === 0 ? {} : { deletions }),
  };
}

/** Returns the stored status with other deletion fields. */
export function withDeletions(stored: unknown, record: DeletionRecord): JsonObject {
  const { held: _held, deletions: _deletions, ...rest } = isJsonObject(stored) ? stored : {};
  return { ...rest, ...deletionFields(record) };
}

function entryOf(value: unknown): readonly RecentEntry[] {
  const at = timeOf(ownMember(value, 'at'));
  return at === undefined ? [] : [{ at, count: countOf(ownMember(value, 'count')) }];
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
}

function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** metav1.Time has no fractions of a second. */
function timeText(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
