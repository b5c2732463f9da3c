// Decides the next step for the shared authorities. Any replica may take it; the first write wins.
import type { Authority, AuthorityState, RetiredAuthority } from './authority-state.ts';
import { maxRetired, withKeys } from './authority-state.ts';

export type FoundState =
  { readonly kind: 'missing' | 'corrupt' } | { readonly kind: 'whole'; readonly state: AuthorityState };

/** All times are in milliseconds. */
export interface Situation {
  readonly now: number;
  /** The lifetime of a serving certificate that is signed now. */
  readonly leafMs: number;
  /** The time within which each API server learns a bundle. */
  readonly settlingMs: number;
  /** How long both configurations have carried the bundle of this state. */
  readonly confirmedMs: number;
  /** True when API servers may call replicas that this process does not know. */
  readonly mayBeServed: boolean;
  readonly memory: Memory;
}

/** Knowledge of this process that survives the loss of the Secret. */
export interface Memory {
  /** The last complete state. */
  readonly state?: AuthorityState;
  /** The signer of the certificate that this process serves, until that certificate expires. */
  readonly own?: RetiredAuthority;
}

export interface Step {
  readonly kind: 'created' | 'restored' | 'added' | 'released' | 'dropped';
  /** The resulting state. `issue` names the place where the caller adds a new authority. */
  readonly state: AuthorityState;
  readonly issue?: 'signing' | 'next';
}

/** Why a replica replaced the content of the Secret. */
export type RecoveryCause = 'missing' | 'corrupt' | 'expired' | 'foreign';

/** Returns undefined when no step is due. */
export function nextStep(found: FoundState, situation: Situation): Step | undefined {
  const { memory, now } = situation;
  if (found.kind !== 'whole') return created(memory.state, situation);
  const { state } = found;
  if ([state.signing, state.next].every((each) => each === undefined || each.notAfter <= now))
    return created({ retired: state.retired }, situation);
  return (
    restored(state, situation) ??
    dropped(state, situation) ??
    added(state, situation) ??
    released(state, situation)
  );
}

/** Renews at two thirds of the lifetime. The last third is enough time to notice and fix a failing renewal. */
export function renewalTime({ createdAt, notAfter }: Pick<Authority, 'createdAt' | 'notAfter'>): number {
  return createdAt + ((notAfter - createdAt) * 2) / 3;
}

/** After the settling time and this time, no replica is left that could confirm and release the next authority. */
const patienceMs = 15_000;

/** Returns the authority that signs for a process that has waited `waitedMs` for its first certificate. */
export function signerFor(
  { signing, next }: AuthorityState,
  waitedMs: number,
  settlingMs: number,
): Authority | undefined {
  return signing ?? (waitedMs >= settlingMs + patienceMs ? next : undefined);
}

/** Lets the new authority sign at once if no other replica can serve; otherwise API servers must learn it first. */
function created(known: Partial<AuthorityState> | undefined, situation: Situation): Step {
  const { now, mayBeServed, memory } = situation;
  const { signing, next, retired = [] } = known ?? {};
  const keyless = [signing, next].filter((each) => each !== undefined).map((each) => retire(each, situation));
  const own = memory.own === undefined ? [] : [memory.own];
  const all = [...retired, ...keyless, ...own].filter(({ until }) => until > now);
  const trusted = boundedRetired(all, memory);
  const isAlone = trusted.length === 0 && (known !== undefined || !mayBeServed);
  return { kind: 'created', state: { retired: trusted }, issue: isAlone ? 'signing' : 'next' };
}

/** Another writer has replaced the state without our authority. API servers must learn the new authority as well. */
function restored(state: AuthorityState, situation: Situation): Step | undefined {
  const { own } = situation.memory;
  const all = [state.signing, state.next, ...state.retired];
  if (own === undefined || own.until <= situation.now || all.some((each) => each?.certPem === own.certPem))
    return undefined;
  const { signing, next = signing } = state;
  const passed = signing === undefined || signing === next ? [] : [retire(signing, situation)];
  return {
    kind: 'restored',
    state: withKeys(undefined, next, boundedRetired([...state.retired, ...passed, own], situation.memory)),
  };
}

function dropped(state: AuthorityState, { now, memory: { own } }: Situation): Step | undefined {
  const isOver = ({ certPem, until }: RetiredAuthority): boolean =>
    until <= now && !(own?.certPem === certPem && own.until > now);
  const [signing, next] = [state.signing, state.next].map((each) =>
    each === undefined || each.notAfter <= now ? undefined : each,
  );
  const retired = state.retired.filter((each) => !isOver(each));
  const isSame = signing === state.signing && next === state.next && retired.length === state.retired.length;
  if (isSame) return undefined;
  // The certificates of the expired authority expired with it. No replica serves now, so the next one can sign at once.
  const isAlone = state.signing !== undefined && signing === undefined && retired.length === 0;
  return { kind: 'dropped', state: withKeys(isAlone ? next : signing, isAlone ? undefined : next, retired) };
}

/** Adds a next authority when the signing one must be renewed, or when the next one did without being released. */
function added(state: AuthorityState, situation: Situation): Step | undefined {
  const { signing, next } = state;
  const last = next ?? signing;
  if (last === undefined || situation.now < renewalTime(last)) return undefined;
  const passed = next === undefined ? [] : [retire(next, situation)];
  return {
    kind: 'added',
    state: withKeys(signing, undefined, boundedRetired([...state.retired, ...passed], situation.memory)),
    issue: 'next',
  };
}

function released(state: AuthorityState, situation: Situation): Step | undefined {
  const { signing, next } = state;
  if (next === undefined || situation.confirmedMs < situation.settlingMs) return undefined;
  const passed = signing === undefined ? [] : [retire(signing, situation)];
  return {
    kind: 'released',
    state: withKeys(next, undefined, boundedRetired([...state.retired, ...passed], situation.memory)),
  };
}

/** A replica that has just read the old state may sign this much later, or its clock may be this slow. */
const slackMs = 60_000;

function retire({ certPem, notAfter }: Authority, { now, leafMs }: Situation): RetiredAuthority {
  return { certPem, until: Math.min(notAfter, now + leafMs + slackMs) };
}

/**
 * Returns each authority once, and at most `maxRetired`, so that the bundle stays small. The signer of this process's
 * certificate always stays. If the Secret is lost again and again, other replicas serve certificates of the first
 * authorities while no new authority signs, or else of the last authorities. So half of each are kept.
 */
function boundedRetired(retired: readonly RetiredAuthority[], { own }: Memory): readonly RetiredAuthority[] {
  const sorted = retired.toSorted((a, b) => a.until - b.until);
  const all = [...new Map(sorted.map((each) => [each.certPem, each])).values()].toSorted(
    (a, b) => a.until - b.until,
  );
  if (all.length <= maxRetired) return all;
  const mine = all.filter(({ certPem }) => certPem === own?.certPem);
  const others = all.filter((each) => !mine.includes(each));
  const half = maxRetired / 2;
  const kept = [...mine, ...others.slice(0, half - mine.length), ...others.slice(-half)];
  return all.filter((each) => kept.includes(each));
}
