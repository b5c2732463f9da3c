// The questions to the simulation: a change at rest, one Secret for all namespaces, a take-over, a restart, memory.
import type { ScaleCosts } from './costs.ts';
import { quantile } from '../statistics.ts';
import { Fleet, type FleetOptions } from './fleet.ts';

export interface Situation extends FleetOptions {
  /** Namespaces that users create or change in a second. */
  readonly changesPerSecond: number;
  /** Provided objects of each namespace. */
  readonly objects: number;
}

export interface Lag {
  readonly p50: number;
  readonly p99: number;
}

const restSeconds = 120;

/** How long a namespace that is created waits for its objects and its condition while nothing else happens. */
export function atRest(situation: Situation, costs: ScaleCosts): Lag & { readonly load: number } {
  const fleet = new Fleet(situation, costs);
  const lags = keepChanging(fleet, situation, 0, () => fleet.timeline.now < restSeconds * 1000);
  fleet.timeline.run();
  return { ...lagOf(lags), load: fleet.load() };
}

/** One more Secret for all namespaces, while users create namespaces. */
export function fanOut(situation: Situation, costs: ScaleCosts): Lag & { readonly seconds: number } {
  const fleet = new Fleet(situation, costs);
  let endedAt: number | undefined;
  fleet.forAll(1, (at) => (endedAt = at));
  const lags = keepChanging(fleet, situation, 0, () => endedAt === undefined);
  fleet.timeline.run();
  return { ...lagOf(lags), seconds: (endedAt ?? 0) / 1000 };
}

/** A leader is killed. A standby, whose watches are current, reads the copies again and looks at all namespaces. */
export function takeOver(
  situation: Situation,
  costs: ScaleCosts,
): { readonly seconds: number; readonly longest: number } {
  return lookAtAll(situation, costs, costs.leaseMs + share(situation) * costs.listMs);
}

/** All processes start again: lists of all namespaces and objects, then a look at all namespaces. */
export function restart(
  situation: Situation,
  costs: ScaleCosts,
): { readonly seconds: number; readonly longest: number } {
  const listed = situation.namespaces * (1 + situation.objects);
  return lookAtAll(situation, costs, costs.startMs + listed * costs.listMs);
}

/** Every leader watches all namespaces and objects, because no watch can select by a hash. */
export function memoryMiB({ namespaces, objects }: Situation, costs: ScaleCosts): number {
  return costs.baseMiB + (namespaces * (1 + objects) * costs.objectKiB) / 1024;
}

/** The share of a processor for watch events and for the look at all namespaces every ten minutes. */
export function idleLoad(situation: Situation, costs: ScaleCosts, eventsPerNamespaceAndHour: number): number {
  const events = (situation.namespaces * eventsPerNamespaceAndHour * costs.eventMs) / 3600;
  const looks = (share(situation) * costs.planMs) / 600;
  return (events + looks) / 1000;
}

function lookAtAll(
  situation: Situation,
  costs: ScaleCosts,
  downMs: number,
): { readonly seconds: number; readonly longest: number } {
  const fleet = new Fleet(situation, costs);
  let endedAt: number | undefined;
  fleet.timeline.after(downMs, () => fleet.forAll(0, (at) => (endedAt = at)));
  const lags = keepChanging(fleet, situation, downMs, () => endedAt === undefined);
  fleet.timeline.run();
  return { seconds: (endedAt ?? 0) / 1000, longest: Math.max(0, ...lags) };
}

/** Users change one namespace after the other at a fixed rate. Returns the milliseconds until each was done. */
function keepChanging(
  fleet: Fleet,
  { changesPerSecond, namespaces, objects }: Situation,
  downMs: number,
  goesOn: () => boolean,
): readonly number[] {
  const lags: number[] = [];
  const { timeline } = fleet;
  let changed = 0;
  const next = (): void => {
    if (!goesOn()) return;
    const delay = Math.max(0, downMs - timeline.now);
    // The condition of the namespace is one more write.
    fleet.change((changed * 7919) % namespaces, objects + 1, delay, (lag) => lags.push(lag));
    changed += 1;
    timeline.after(1000 / changesPerSecond, next);
  };
  next();
  return lags;
}

function lagOf(lags: readonly number[]): Lag {
  return { p50: quantile(lags, 0.5), p99: quantile(lags, 0.99) };
}

/** The namespaces of one leader. */
function share({ namespaces, leaders }: Situation): number {
  return Math.ceil(namespaces / leaders);
}
