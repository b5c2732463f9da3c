// Decides which existing namespaces may get enforced values now. The status of the policy holds how far the waves are.
import { hash } from 'node:crypto';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { labelsOf, type KubeObject } from '../../base/metadata.ts';
import { counted, listed } from '../../base/text.ts';
import { rfc3339 } from '../../base/time.ts';
import type { NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { CompiledWaves } from '../../rules/waves.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import type { Install } from '../terms/install.ts';
import type { WavesGate } from '../terms/provider-id.ts';

const states = ['Moving', 'Pausing', 'Stopped', 'Done'] as const;

export interface WaveRecord extends WavesGate {
  readonly state: (typeof states)[number];
  /** Counts the waves that have begun. */
  readonly wave: number;
  /** When the state began, in milliseconds since the epoch. */
  readonly since: number;
  /** Namespaces that have the values. */
  readonly moved: number;
  /** Namespaces that do not have them yet. */
  readonly waiting: number;
  /** The first namespaces with the values that are not ready. */
  readonly notReady: readonly string[];
}

/** The waves of a policy, and how far they are. */
export interface KeptWaves {
  readonly waves: CompiledWaves;
  readonly record: WaveRecord;
}

/** One matched namespace. */
export interface WaveMember {
  readonly name: string;
  readonly position: string;
  /** True if the namespace lacks a value that Reeve may set. */
  readonly isBehind: boolean;
  readonly isReady: boolean;
}

/** Returns the waves of a policy. Undefined if it moves its values at once, or changes no existing namespace. */
export function wavesOf({ namespaceDefaults, isSuspended }: CompiledPolicy): CompiledWaves | undefined {
  return isSuspended ? undefined : writtenWaves({ namespaceDefaults });
}

/** Also returns those of a suspended policy, whose record stays. */
export function writtenWaves({
  namespaceDefaults,
}: Pick<CompiledPolicy, 'namespaceDefaults'>): CompiledWaves | undefined {
  return namespaceDefaults.find(({ waves }) => waves !== undefined)?.waves;
}

/** Returns true if the newer version moves namespaces that the older one keeps for a later wave. */
export function movesFaster(older: CompiledPolicy | undefined, newer: CompiledPolicy): boolean {
  const [before, after] = [older && writtenWaves(older), writtenWaves(newer)];
  if (before === undefined || after === undefined) return before !== undefined;
  return (after.percent ?? 100) > (before.percent ?? 100) || after.pauseMs < before.pauseMs;
}

/** Identifies what the waves move, and through which namespaces. */
export function movedValues(
  { match, variables, namespaces }: NamespacePolicySpec,
  { clusterVariables }: Pick<Install, 'clusterVariables'>,
): string {
  const { labels, annotations, waves } = namespaces?.enforced ?? {};
  const moved = JSON.stringify([match, variables, labels, annotations, waves?.namespaceSelector]);
  const read = moved.includes('variables.cluster') ? JSON.stringify(clusterVariables) : '';
  return digest(`${moved}${read}`);
}

/** Orders the namespaces: those of the selector first. No user chooses a UID, so no user chooses the rest of the order. */
export function wavePosition(
  namespaceObject: KubeObject,
  { selector }: CompiledWaves,
  values: string,
): string {
  const isFirst = selector?.matches(labelsOf(namespaceObject)) === true;
  return `${isFirst ? selectedFirst : '1'}${digest(`${values}/${namespaceObject.metadata.uid ?? ''}`)}`;
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 16);
}

/** Only the stored record opens a wave, so that a restart or another leader cannot be ahead of it. */
export function mayMove(gate: WavesGate | undefined, values: string, position: string): boolean {
  return gate?.values === values && !gate.isStopped && position <= gate.through;
}

interface Moment {
  readonly waves: CompiledWaves;
  readonly values: string;
  readonly now: number;
}

/**
 * Returns the record that follows `stored`, for the namespaces that have the values or may get them. Namespaces that fall behind
 * after the last wave begin new waves: there can be many of them, when another policy or an exception ends.
 */
export function nextRecord(
  stored: WaveRecord | undefined,
  members: readonly WaveMember[],
  { waves, values, now }: Moment,
): WaveRecord {
  const behind = members.filter(({ isBehind }) => isBehind);
  const isOver = stored?.state === 'Done' && behind.length > 0;
  const before = stored?.values === values && !isOver ? stored : { ...firstRecord, values, since: now };
  const notReady = members.filter(({ isBehind, isReady }) => !isBehind && !isReady);
  const moved = members.length - behind.length;
  const isStopped = (moved - notReady.length) * 100 < waves.minReady * moved;
  const counts = {
    moved,
    waiting: behind.length,
    notReady: notReady
      .map(({ name }) => name)
      .toSorted()
      .slice(0, maxNames),
  };
  const at = (state: WaveRecord['state'], fields: Partial<WaveRecord> = {}): WaveRecord => ({
    ...before,
    ...counts,
    state,
    isStopped: state === 'Stopped',
    since: before.state === state ? before.since : now,
    ...fields,
  });
  if (behind.length === 0) return at('Done', { through: '' });
  if (isStopped) return at('Stopped');
  if (behind.some(({ position }) => position <= before.through)) return at('Moving');
  const isBegun = before.wave > 0 || !isFirstWave(stored, members);
  // A namespace that falls behind during the pause waits for the next wave, too.
  if (isBegun && !isPauseOver(before, waves, now)) return at('Pausing', { through: '' });
  const through = endOfWave(
    behind.map(({ position }) => position),
    members.length,
    waves,
  );
  return at('Moving', { through, wave: before.wave + 1, since: now });
}

function isPauseOver({ state, since }: WaveRecord, { pauseMs }: CompiledWaves, now: number): boolean {
  return state === 'Pausing' && now - since >= pauseMs;
}

/** Waves that begin again with another match pause first, because some namespaces have the values already. */
function isFirstWave(stored: WaveRecord | undefined, members: readonly WaveMember[]): boolean {
  return (
    stored === undefined ||
    stored.state === 'Done' ||
    members.every(({ isBehind }) => isBehind) ||
    members.some(({ isBehind, position }) => isBehind && position.startsWith(selectedFirst))
  );
}

const selectedFirst = '0';
const maxNames = 5;
const firstRecord = {
  state: 'Moving',
  isStopped: false,
  wave: 0,
  through: '',
  moved: 0,
  waiting: 0,
  notReady: [],
} as const;

/** Returns the last position of the next wave. `behind` is not empty. */
function endOfWave(behind: readonly string[], matched: number, { percent }: CompiledWaves): string {
  const ordered = behind.toSorted();
  const selected = ordered.filter((position) => position.startsWith(selectedFirst));
  const size = percent === undefined ? ordered.length : Math.max(1, Math.ceil((matched * percent) / 100));
  return (selected.length > 0 ? selected.at(-1) : ordered[Math.min(size, ordered.length) - 1]) ?? '';
}

/** Returns the delay after which the record can change although no namespace does. Undefined: never. */
export function waveDelay({ record, waves }: KeptWaves, now: number): number | undefined {
  const { state, since } = record;
  if (state === 'Done') return undefined;
  return state === 'Pausing' ? Math.max(1, Math.min(since + waves.pauseMs - now, lookMs)) : lookMs;
}

/** How often Reeve looks whether the moved namespaces are still ready. */
const lookMs = 15_000;

/** The record as a sentence for the status. Empty if all is done. */
export function wavesText(
  { state, wave, moved, waiting, notReady, since }: WaveRecord,
  waves: CompiledWaves,
): string {
  if (state === 'Done') return '';
  const done = `${moved} of ${counted(moved + waiting, 'namespace')} have the enforced values`;
  if (state === 'Stopped')
    return `the waves are stopped: ${done}, and less than ${waves.minReady} percent of them are ready (${listed([...notReady])})`;
  const next =
    state === 'Pausing' ? `, the next wave begins after ${rfc3339(new Date(since + waves.pauseMs))}` : '';
  return `wave ${wave}: ${done}${next}`;
}

/** Ignores a record without the form of `waveFields`: then the waves begin again. */
export function waveRecordOf(status: unknown): WaveRecord | undefined {
  const record = ownMember(status, 'waves');
  if (!isJsonObject(record)) return undefined;
  const { values, through, wave, moved, waiting, since, notReady } = record;
  const state = states.find((each) => each === record['state']);
  const time = typeof since === 'string' ? Date.parse(since) : Number.NaN;
  if (state === undefined || typeof values !== 'string' || typeof through !== 'string' || Number.isNaN(time))
    return undefined;
  return {
    state,
    values,
    through,
    isStopped: state === 'Stopped',
    wave: countOf(wave),
    moved: countOf(moved),
    waiting: countOf(waiting),
    since: time,
    notReady: Array.isArray(notReady) ? notReady.filter((name) => typeof name === 'string') : [],
  };
}

/** Returns the form in the status. */
export function waveFields({
  state,
  wave,
  since,
  moved,
  waiting,
  notReady,
  through,
  values,
}: WaveRecord): JsonObject {
  return {
    state,
    wave,
    since: rfc3339(new Date(Math.floor(since / 1000) * 1000)),
    moved,
    waiting,
    notReady: [...notReady],
    through,
    values,
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
}
