// Plans one namespace: the steps that bring its objects in sync, and results for objects that need no step.
import { serviceAccountType } from '../../base/object-type.ts';
import { RecordRoom } from '../terms/creation-record.ts';
import { copiesOf, type ProviderId, namespaceOfProvider } from '../terms/provider-id.ts';
import { heldHereText } from './fuse.ts';
import {
  grantsAccess,
  type Observed,
  conflictResult,
  failedResult,
  terminatingText,
  undesiredResult,
  type Follower,
  type ObjectResult,
} from './observed.ts';
import { notOurs, providedBy } from './conflicts.ts';
import { differingFields } from './desired-object.ts';
import { planAccounts, type AccountPlan, type AccountStep, type FieldsFate } from './plan-account.ts';
import { planClaim, unreadSource, type ClaimStep } from './plan-claim.ts';
import { hasEnded, planOnce } from './plan-once.ts';
import type { PlanInput } from './plan-input.ts';
import type { Claim } from '../desired/desired.ts';

export type PlanStep =
  | ClaimStep
  | AccountStep
  | {
      readonly kind: 'delete';
      readonly owner: ProviderId;
      readonly live: Observed;
      readonly isExpired: boolean;
    }
  /** The object stays, and Reeve removes its label and annotations, and its fields unless the object is orphaned. */
  | {
      readonly kind: 'release';
      readonly owner: ProviderId;
      readonly live: Observed;
      /** True if the provider may take the object back. */
      readonly isOrphaned: boolean;
      readonly isExpired: boolean;
      /** Set if the object was to be created once, so that it keeps its fields. */
      readonly isCreatedOnce?: true;
    };

/** A step that writes. */
export type DoneStep = Exclude<PlanStep, { readonly kind: 'read' | 'read-source' }>;

/** A step that writes an object as a whole. */
export type ObjectStep = Exclude<DoneStep, AccountStep>;

interface Plan {
  readonly steps: readonly PlanStep[];
  /** Results of the objects that need no step. */
  readonly results: readonly ObjectResult[];
  /** Providers that want an object in the same form as its owner. They share the owner's result. */
  readonly followers: readonly Follower[];
  /** Objects with our label that name no owner, and that no provider wants. Reeve leaves these objects alone. */
  readonly unowned: readonly Observed[];
}

export function planNamespace(input: PlanInput): Plan {
  const steps: PlanStep[] = [];
  const results: ObjectResult[] = [];
  const followers: Follower[] = [];
  const take = (result: PlanStep | ObjectResult): void => {
    if ('kind' in result) steps.push(result);
    else results.push(result);
  };
  let known: RecordRoom | undefined;
  const room = (): RecordRoom => (known ??= new RecordRoom(input.namespaceObject));
  for (const [key, claims] of input.desired.claims) {
    const live = input.liveOf(key);
    const [winner, ...losers] = byPrecedence(claims, live, input);
    if (winner === undefined) continue;
    take(planWinner(winner, live, room, input));
    const others = planLosers(winner, losers, input);
    steps.push(...others.unread);
    results.push(...others.conflicts);
    followers.push(...others.followers);
  }
  for (const live of input.ours) {
    if (input.desired.claims.has(live.key) || !input.snapshot.isServed(live.type)) continue;
    const result = planUnclaimed(live, input);
    if (result !== undefined) take(result);
  }
  for (const { step, results: others } of accountPlans(input)) {
    results.push(...others);
    if (step !== undefined) steps.push(step);
  }
  const unowned = input.ours.filter(
    ({ lacksOwner, isTerminating, key }) => lacksOwner && !isTerminating && !input.desired.claims.has(key),
  );
  return { steps, results, followers, unowned };
}

/** A provider that only creates the object has no wish for its form. */
function planLosers(winner: Claim, losers: readonly Claim[], input: PlanInput) {
  const unread: PlanStep[] = [];
  const conflicts: ObjectResult[] = [];
  const followers: Follower[] = [];
  for (const loser of losers) {
    const { provider, key, once } = loser;
    const step = once === undefined ? unreadSource(winner, loser, input) : undefined;
    if (step !== undefined) {
      unread.push(step);
      continue;
    }
    const differing = once === undefined ? differingFields(winner, loser, input) : [];
    if (differing.length === 0) followers.push({ provider, key, owner: winner.provider });
    else conflicts.push(providedBy(loser, winner.provider, differing));
  }
  return { unread, conflicts, followers };
}

/** Looks for fields first, because most namespaces have none. */
function accountPlans(input: PlanInput): readonly AccountPlan[] {
  const { desired, accounts } = input;
  const hasFields = desired.fields.size > 0 || (accounts?.marked.length ?? 0) > 0;
  return hasFields ? planAccounts(input, (provider) => fateOf(provider, input)) : [];
}

/** The fuse holds no fields, because their removal deletes no object. Fields of a released provider stay, as its objects do. */
function fateOf(provider: ProviderId, input: PlanInput): FieldsFate {
  if (isFrozen(provider, input)) return 'kept';
  const { kind } = input.fuseOf(provider);
  if (kind === 'unknown') return 'kept';
  return kind === 'release' ? 'released' : 'removed';
}

function planWinner(
  claim: Claim,
  live: Observed | undefined,
  room: () => RecordRoom,
  input: PlanInput,
): PlanStep | ObjectResult {
  if (claim.once !== undefined) return planOnce(claim, live, room, input);
  if (live === undefined || live.owner === claim.provider) return planClaim(claim, live, input);
  if (live.owner === undefined) {
    const isFree = live.isOffered || live.orphanedFrom === claim.provider;
    return isFree ? planClaim(claim, live, input) : notOurs(claim, live);
  }
  return keepsFrozen(live.owner, input)
    ? conflictResult(claim, 'OwnedByAnother', `${live.owner} owns it and is suspended or has an error`)
    : planClaim(claim, live, input);
}

/** Plans a managed object that no provider wants in this namespace. */
function planUnclaimed(live: Observed, input: PlanInput): PlanStep | ObjectResult | undefined {
  if (!isOwned(live)) return undefined;
  if (live.isTerminating) return stillDeleting(live);
  if (isFrozen(live.owner, input)) return expiredOfFrozen(live, input) ?? keptOfInvalid(live, input);
  if (isGiven(live, input)) return hasEnded(live, input) ? deletion(live, true) : left(live);
  return (
    waitingForCopy(live, input) ??
    (isExpired(live, input.desired) ? deletion(live, true) : planRemoval(live, input))
  );
}

/** Keeps the copy of another name while the share cannot create the wanted one. */
function waitingForCopy(live: Owned, input: PlanInput): PlanStep | ObjectResult | undefined {
  const claim = wantedCopy(live.owner, input);
  if (claim !== undefined && input.scopeOf(claim) === 'not-allowed')
    return undesired(live, 'NameNotAllowed', `it stays, because ${claim.name} is not an allowed name`);
  const share = claim?.content.kind === 'copy' ? claim.content.share : undefined;
  const next = share === undefined ? undefined : input.copyStateOf(share);
  if (next?.kind === 'unavailable') return undesired(live, next.reason, `it stays, because ${next.message}`);
  // The plan of the new copy does not read the source if the copy is in conflict or not allowed.
  if (share !== undefined && next?.kind === 'unread')
    return { kind: 'read-source', claim: { provider: live.owner, key: live.key }, share };
  return undefined;
}

/** Returns nothing while the object waits to be counted, because its namespace is planned again after that. */
function planRemoval(live: Owned, { fuseOf, now }: PlanInput): PlanStep | ObjectResult | undefined {
  const { owner, expiresAt } = live;
  const verdict = fuseOf(owner, live);
  switch (verdict.kind) {
    case 'delete':
      return deletion(live, false);
    case 'wait':
      return undefined;
    case 'release':
      // Access must not outlive both its end and the suspension that has kept it.
      return expiresAt !== undefined && expiresAt <= now.getTime()
        ? deletion(live, true)
        : { kind: 'release', owner, live, isOrphaned: true, isExpired: false };
    case 'hold':
      return undesired(live, 'TooManyDeletions', heldHereText(owner));
    case 'unknown':
      return undesired(
        live,
        'ApiError',
        'the API server gave no answer, so Reeve cannot decide whether to delete it',
      );
    default:
      return verdict satisfies never;
  }
}

/** Reports that finalizers of other programs keep the object. RBAC grants access all the same. */
function stillDeleting(live: Owned): ObjectResult {
  const grants = grantsAccess(live) ? ', and grants until then' : '';
  return undesired(live, 'Terminating', `${terminatingText}${grants}`);
}

function undesired({ owner, key }: Owned, reason: string, message: string): ObjectResult {
  return undesiredResult({ provider: owner, key }, reason, message);
}

/** Returns the copy of a share whose source or target name changed. The old copy serves until the new copy can exist. */
function wantedCopy(owner: ProviderId, { desired }: PlanInput): Claim | undefined {
  if (copiesOf(owner) === undefined) return undefined;
  for (const claims of desired.claims.values())
    for (const claim of claims) if (claim.provider === owner) return claim;
  return undefined;
}

/** Reports access that outlives its end, because its policy is suspended or has an error. Such an object is not in sync. */
function expiredOfFrozen(live: Owned, { desired, now }: PlanInput): ObjectResult | undefined {
  const { owner, expiresAt } = live;
  const freeze = desired.frozen.get(owner);
  if (freeze === undefined || expiresAt === undefined || expiresAt > now.getTime()) return undefined;
  const why = freeze.reason === 'Suspended' ? 'its policy is suspended' : `of an error (${freeze.message})`;
  const end = new Date(expiresAt).toISOString();
  return undesired(live, freeze.reason, `it expired at ${end} and still grants, because ${why}`);
}

/** Names the provider in the namespace's result, because a provider that does not load has no report. */
function keptOfInvalid(live: Owned, { snapshot }: PlanInput): ObjectResult | undefined {
  const state = snapshot.providers.get(live.owner);
  if (state === undefined || state.isValid || state.isSuspended) return undefined;
  return undesired(live, 'Invalid', 'its spec does not load, so the object stays as it is');
}

/** An object that another client created is given back instead. */
function deletion(live: Owned, hasExpired: boolean): PlanStep {
  const { owner, isDeletable } = live;
  return isDeletable
    ? { kind: 'delete', owner, live, isExpired: hasExpired }
    : { kind: 'release', owner, live, isOrphaned: false, isExpired: hasExpired };
}

function left(live: Owned): PlanStep {
  const { owner } = live;
  return { kind: 'release', owner, live, isOrphaned: false, isExpired: false, isCreatedOnce: true };
}

type Owned = Observed & { readonly owner: ProviderId };

function isOwned(live: Observed): live is Owned {
  return live.owner !== undefined;
}

/** Returns true if the fuse counts the object: Reeve would delete it, and the object has not expired. */
export function isUnwanted(live: Observed, input: Pick<PlanInput, 'snapshot' | 'desired'>): live is Owned {
  return (
    isOwned(live) &&
    !live.isTerminating &&
    !input.desired.claims.has(live.key) &&
    input.snapshot.isServed(live.type) &&
    !isFrozen(live.owner, input) &&
    !isGiven(live, input) &&
    !isExpired(live, input.desired)
  );
}

/** An object that was to be created once is never deleted, not even while a change of its provider drops it. */
function isGiven(
  { key, isCreatedOnce }: Pick<Observed, 'key' | 'isCreatedOnce'>,
  { desired }: Pick<PlanInput, 'desired'>,
): boolean {
  return isCreatedOnce || desired.given.has(key);
}

function isExpired({ owner, key }: Owned, { expired }: PlanInput['desired']): boolean {
  return expired.get(owner)?.has(key) === true;
}

// Decides which of several providers gets an object, and which providers keep their objects as they are.

/** Sorts claims by name. A frozen provider keeps its objects and takes nothing from other providers. */
export function byPrecedence(
  claims: readonly Claim[],
  live: Observed | undefined,
  input: Pick<PlanInput, 'snapshot' | 'desired'>,
): readonly Claim[] {
  const rank = ({ provider }: Claim): number => {
    if (!input.desired.frozen.has(provider)) return 1;
    return provider === live?.owner && keepsFrozen(provider, input) ? 0 : 2;
  };
  return claims.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Returns true if no other provider can take the objects of this frozen one. A tenant's binding always gives way. Otherwise a
 * suspended one would stop the provider of the cluster from changing the object.
 */
export function keepsFrozen(owner: ProviderId, input: Pick<PlanInput, 'snapshot' | 'desired'>): boolean {
  return isFrozen(owner, input) && namespaceOfProvider(owner) === undefined;
}

/** A provider that does not load, is suspended, or has an error for this namespace keeps its objects as they are. */
function isFrozen(
  owner: ProviderId,
  { snapshot, desired }: Pick<PlanInput, 'snapshot' | 'desired'>,
): boolean {
  if (desired.frozen.has(owner)) return true;
  const state = snapshot.providers.get(owner);
  // The fuse decides about a provider that is being deleted.
  return state !== undefined && !state.isDeleting && (!state.isValid || state.isSuspended);
}

// Returns the providers of a step, its place, and the results of an error.

/** The providers for which a step writes. */
export function ownersOf(step: PlanStep): readonly ProviderId[] {
  if (step.kind !== 'fields') return [ownerOf(step)];
  return [...step.claims.map(({ provider }) => provider), ...step.leaving];
}

export function ownerOf(step: Exclude<PlanStep, AccountStep>): ProviderId {
  return step.kind === 'delete' || step.kind === 'release' ? step.owner : step.claim.provider;
}

/** Returns where a step writes, for one of its providers. */
export function placeOf(step: DoneStep, owner: ProviderId) {
  if (step.kind === 'fields') {
    const { namespace, name } = step.live;
    return { namespace, kind: serviceAccountType.kind, name, owner };
  }
  if (step.kind === 'delete' || step.kind === 'release') {
    const { namespace, name, type } = step.live;
    return { namespace, kind: type.kind, name, owner };
  }
  const { object, claim } = step;
  return { namespace: object.metadata.namespace ?? '', kind: claim.type.kind, name: claim.name, owner };
}

/** Returns the results of a step that failed. */
export function outcomesOf(step: DoneStep, reason: string, message: string): readonly ObjectResult[] {
  if (step.kind === 'delete' || step.kind === 'release')
    return [undesiredResult({ provider: step.owner, key: step.live.key }, reason, message)];
  if (step.kind !== 'fields') return [failedResult(step.claim, reason, message)];
  const { claims, leaving, live } = step;
  const kept = (provider: ProviderId): ObjectResult =>
    undesiredResult({ provider, key: live.key }, reason, `its fields stay: ${message}`);
  return [...claims.map((claim) => failedResult(claim, reason, message)), ...leaving.map(kept)];
}
