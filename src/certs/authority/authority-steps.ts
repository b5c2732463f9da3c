// Decides the next step for the shared authorities. Any replica may take it; the first write wins.
import type { Authority, AuthorityState, RetiredAuthority } from './authority-state.ts';
import { mostRetired, withKeys } from './authority-state.ts';

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

/** What is left of the life of a certificate suffices to notice, and to mend, whatever keeps it from being renewed. */
export function renewalTime({ createdAt, notAfter }: Pick<Authority, 'createdAt' | 'notAfter'>): number {
  return createdAt + ((notAfter - createdAt) * 2) / 3;
}

/** After so long beyond the settling time, there is nobody who could still confirm and release it. */
const patienceMs = 15_000;

/** Who signs for a process that has been without a certificate for so long. */
export function signerFor(
  { signing, next }: AuthorityState,
  waitedMs: number,
  settlingMs: number,
): Authority | undefined {
  return signing ?? (waitedMs >= settlingMs + patienceMs ? next : undefined);
}

/** At once where nobody can serve a certificate of another one; else it has to become known first. */
function created(known: Partial<AuthorityState> | undefined, situation: Situation): Step {
  const { now, mayBeServed, memory } = situation;
  const { signing, next, retired = [] } = known ?? {};
  const keyless = [signing, next].filter((each) => each !== undefined).map((each) => retire(each, situation));
  const own = memory.own === undefined ? [] : [memory.own];
  const all = [...retired, ...keyless, ...own].filter(({ until }) => until > now);
  const trusted = fewEnough(all, memory);
  const isAlone = trusted.length === 0 && (known !== undefined || !mayBeServed);
  return { kind: 'created', state: { retired: trusted }, issue: isAlone ? 'signing' : 'next' };
}

/** Somebody who did not know our authority has replaced the state. Whatever they made has to become known as well. */
function restored(state: AuthorityState, situation: Situation): Step | undefined {
  const { own } = situation.memory;
  const all = [state.signing, state.next, ...state.retired];
  if (own === undefined || own.until <= situation.now || all.some((each) => each?.certPem === own.certPem))
    return undefined;
  const { signing, next = signing } = state;
  const passed = signing === undefined || signing === next ? [] : [retire(signing, situation)];
  return {
    kind: 'restored',
    state: withKeys(undefined, next, fewEnough([...state.retired, ...passed, own], situation.memory)),
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
  // The last certificate of the one that signed has expired with it: whom nobody serves need not become known.
  const isAlone = state.signing !== undefined && signing === undefined && retired.length === 0;
  return { kind: 'dropped', state: withKeys(isAlone ? next : signing, isAlone ? undefined : next, retired) };
}

/** When the signing one comes of age; or the next one, because nobody could release it all that time. */
function added(state: AuthorityState, situation: Situation): Step | undefined {
  const { signing, next } = state;
  const last = next ?? signing;
  if (last === undefined || situation.now < renewalTime(last)) return undefined;
  const passed = next === undefined ? [] : [retire(next, situation)];
  return {
    kind: 'added',
    state: withKeys(signing, undefined, fewEnough([...state.retired, ...passed], situation.memory)),
    issue: 'next',
  };
}

function released(state: AuthorityState, situation: Situation): Step | undefined {
  const { signing, next } = state;
  if (next === undefined || situation.confirmedMs < situation.settlingMs) return undefined;
  const passed = signing === undefined ? [] : [retire(signing, situation)];
  return {
    kind: 'released',
    state: withKeys(next, undefined, fewEnough([...state.retired, ...passed], situation.memory)),
  };
}

/** Whoever has read just before that it signs may take this long to do it, or have a clock that is early. */
const slackMs = 60_000;

function retire({ certPem, notAfter }: Authority, { now, leafMs }: Situation): RetiredAuthority {
  return { certPem, until: Math.min(notAfter, now + leafMs + slackMs) };
}

/**
 * Each once, and no more than API servers can take in the long run. The one that this process is served by stays in any
 * case. Where the Secret is lost again and again, those that others are served by are the first ones, while no new one
 * comes to sign, or else the last ones.
 */
function fewEnough(retired: readonly RetiredAuthority[], { own }: Memory): readonly RetiredAuthority[] {
  const sorted = retired.toSorted((a, b) => a.until - b.until);
  const all = [...new Map(sorted.map((each) => [each.certPem, each])).values()].toSorted(
    (a, b) => a.until - b.until,
  );
  if (all.length <= mostRetired) return all;
  const mine = all.filter(({ certPem }) => certPem === own?.certPem);
  const others = all.filter((each) => !mine.includes(each));
  const half = mostRetired / 2;
  const kept = [...mine, ...others.slice(0, half - mine.length), ...others.slice(-half)];
  return all.filter((each) => kept.includes(each));
}
