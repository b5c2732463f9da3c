// Plans one object that a provider wants in a namespace: in sync, a step, or the reason why there is none.
import { type JsonObject, isJsonObject, ownMember } from '../../base/json.ts';
import {
  type KubeObject,
  annotationsOf,
  labelsOf,
  nameOf,
  valueOf,
  withMetadata,
} from '../../base/metadata.ts';
import {
  adoptedAnnotation,
  adoptLabel,
  appliedAnnotation,
  expiresAtAnnotation,
  modeAnnotation,
  orphanedFromKey,
} from '../../schema/names.ts';
import type { CopyPayload, CopyState } from './copy.ts';
import {
  copyIn,
  type CopyFacts,
  type Observed,
  defaultNotCreated,
  failedResult,
  isDefaultAccount,
  syncedResult,
  terminatingText,
  type ObjectResult,
} from './observed.ts';
import { isWhollyOurs, desiredObject, refusalOf, unnamed } from './desired-object.ts';
import { outOfScope, type PlanInput } from './plan-input.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import type { Freeze, Claim } from '../desired/desired.ts';
import { isDeepStrictEqual } from 'node:util';

export type ClaimStep =
  /** The payload must be read before the object can be compared. */
  { readonly kind: 'read'; readonly claim: Claim; readonly live: Observed } | ReadSourceStep | WriteStep;

interface ReadSourceStep {
  readonly kind: 'read-source';
  /** The copy that waits for the source. Its share may no longer want it. */
  readonly claim: Pick<Claim, 'provider' | 'key'>;
  readonly share: CompiledShare;
}

export interface WriteStep {
  /** `dry-run`: a dry run shows whether a write would change anything. */
  readonly kind: 'create' | 'update' | 'dry-run' | 'replace';
  readonly claim: Claim;
  readonly object: KubeObject;
  readonly live: Observed | undefined;
  readonly surplus: Surplus;
}

/** Content of the live object that the desired object does not have. Reeve removes it with the write. */
export interface Surplus {
  /** A merge patch, for an object that is no copy. */
  readonly fields: JsonObject;
  /** Keys of a copy. */
  readonly data: readonly string[];
  readonly binaryData: readonly string[];
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

export function planClaim(
  claim: Claim,
  live: Observed | undefined,
  input: PlanInput,
): ClaimStep | ObjectResult {
  const scope = input.scopeOf(claim);
  if (scope !== 'allowed') return outOfScope(claim, scope);
  if (live?.isTerminating === true) return failedResult(claim, 'Terminating', terminatingText);
  return claim.content.kind === 'copy'
    ? planCopy(claim, claim.content.share, live, input)
    : planWrite(claim, undefined, live, input);
}

function planCopy(
  claim: Claim,
  share: CompiledShare,
  live: Observed | undefined,
  input: PlanInput,
): ClaimStep | ObjectResult {
  const copy = input.copyStateOf(share);
  switch (copy.kind) {
    case 'unavailable':
      return withoutSource(claim, live, copy, input);
    case 'unread':
      return { kind: 'read-source', claim, share };
    case 'ready':
      return planWrite(claim, copy.payload, live, input);
    default:
      return copy satisfies never;
  }
}

/** Two shares can give the same copy from different sources. So the source of the loser is read, too. */
export function unreadSource(winner: Claim, loser: Claim, input: PlanInput): ReadSourceStep | undefined {
  if (winner.content.kind !== 'copy' || loser.content.kind !== 'copy') return undefined;
  const { share } = loser.content;
  const isUnread = input.copyStateOf(share).kind === 'unread';
  return isUnread && input.copyStateOf(winner.content.share).kind === 'ready'
    ? { kind: 'read-source', claim: loser, share }
    : undefined;
}

function planWrite(
  claim: Claim,
  payload: CopyPayload | undefined,
  live: Observed | undefined,
  input: PlanInput,
): ClaimStep | ObjectResult {
  if (live?.content.kind === 'unread') return { kind: 'read', claim, live };
  const plain = desiredObject(claim, payload, nameOf(input.namespaceObject), input.snapshot, input.now);
  const object = isAdopted(claim, live)
    ? withMetadata(plain, 'annotations', new Map([[adoptedAnnotation, live.adoptionMark]]))
    : plain;
  const writeOf = (wanted: KubeObject): WriteStep['kind'] | 'none' =>
    live === undefined ? 'create' : neededWrite(claim, wanted, payload, live);
  const kind = writeOf(object);
  // Earlier versions did not name the provider in a label, and a frozen provider does not add one now.
  const isFrozen = input.desired.frozen.has(claim.provider);
  if (kind === 'none' || (isFrozen && writeOf(unnamed(object)) === 'none')) return syncedResult(claim);
  const surplus =
    payload === undefined ? foreignSurplus(claim, object, live) : surplusOf(object, payload, live);
  const step = allowedWrite({ kind, claim, object, live, surplus: withOldMarks(surplus, live) }, input);
  const isEarly = 'kind' in step && live === undefined && isDefaultAccount(claim.type, claim.name);
  return isEarly ? defaultNotCreated(claim, 'changes it') : step;
}

/** Returns true if another client created the object. An object that its provider takes back counts as created by Reeve. */
function isAdopted({ provider }: Claim, live: Observed | undefined): live is Observed {
  if (live === undefined) return false;
  return live.isAdopted || (live.owner === undefined && live.orphanedFrom !== provider);
}

/** Removes the mark of an orphan, and that of an object that was to be created once and that a provider now keeps. */
function withOldMarks(surplus: Surplus, live: Observed | undefined): Surplus {
  const orphaned = live?.orphanedFrom === undefined ? [] : [orphanedFromKey];
  const mode = live?.isCreatedOnce === true ? [modeAnnotation] : [];
  const annotations = [...surplus.annotations, ...orphaned, ...mode];
  return { ...surplus, labels: [...surplus.labels, ...orphaned], annotations };
}

/**
 * While the source is missing, Reeve creates no copy and deletes none. An existing copy is in sync if its form is the one that
 * the share wants. Otherwise, or if the source cannot be copied, the result is failed.
 */
function withoutSource(
  claim: Claim,
  live: Observed | undefined,
  { reason, message }: CopyState & { kind: 'unavailable' },
  input: PlanInput,
): ObjectResult {
  if (live?.owner !== claim.provider) return failedResult(claim, reason, message);
  const wanted = desiredObject(claim, undefined, nameOf(input.namespaceObject), input.snapshot, input.now);
  const isLast = reason === 'SourceMissing' || reason === 'SourceUnreadable';
  const isOfForm = [undefined, valueOf(annotationsOf(wanted), appliedAnnotation)].includes(live.appliedHash);
  return isLast && isOfForm
    ? syncedResult(claim)
    : failedResult(claim, reason, `${message}; the old copy stays`);
}

/** Returns the step, unless its provider is frozen or a policy of the namespace refuses the object. */
function allowedWrite(step: WriteStep, input: PlanInput): ClaimStep | ObjectResult {
  const { desired, snapshot, now } = input;
  const freeze = desired.frozen.get(step.claim.provider);
  if (freeze !== undefined) return failedResult(step.claim, freeze.reason, frozenText(freeze));
  const refusal = refusalOf(step.claim, step.object, changedObject(step), snapshot, now);
  return refusal === undefined ? step : failedResult(step.claim, 'RefusedByPolicy', refusal);
}

/**
 * Returns the RoleBinding that the step changes in place. Its old violations do not stop Reeve from removing subjects, as they
 * would not stop a user. The data of a Secret is not known, so its old violations count.
 */
function changedObject({ kind, live }: WriteStep): KubeObject | undefined {
  if (live?.owner === undefined || kind === 'replace') return undefined;
  return live.content.kind === 'object' ? live.content.object : undefined;
}

/** The cause can be another content of the same policy, so the text names the cause. */
function frozenText({ reason, message }: Freeze): string {
  return reason === 'Suspended' ? message : `it is not changed: ${message}`;
}

function neededWrite(
  claim: Claim,
  object: KubeObject,
  payload: CopyPayload | undefined,
  live: Observed,
): NeededWrite {
  const needed = comparedWrite(claim, object, payload, live);
  // An apply removes the mode. What cannot be updated is created again.
  return live.isCreatedOnce && needed !== 'replace' ? 'update' : needed;
}

function comparedWrite(
  claim: Claim,
  object: KubeObject,
  payload: CopyPayload | undefined,
  live: Observed,
): NeededWrite {
  if (payload !== undefined) return compareCopy(object, payload, live);
  if (live.content.kind === 'copy' && live.content.facts.isImmutable) return 'replace';
  if (live.content.kind !== 'object') return 'update';
  return isWhollyOurs(claim)
    ? compareRoleBinding(object, live.content.object)
    : compareResource(object, live.content.object);
}

const noSurplus: Surplus = { fields: {}, data: [], binaryData: [], labels: [], annotations: [] };

/**
 * After adoption, the guard stops the previous owner from editing the object. Reeve removes their other fields now, because
 * these would stay for ever. An apply cannot remove an old expiry that another writer set, too.
 */
function foreignSurplus(claim: Claim, object: KubeObject, live: Observed | undefined): Surplus {
  if (live?.content.kind === 'copy') return { ...noSurplus, fields: keysOfShare(object, live.content.facts) };
  if (live?.content.kind !== 'object') return noSurplus;
  if (isWhollyOurs(claim))
    return hasOldExpiry(object, live.content.object)
      ? { ...noSurplus, annotations: [expiresAtAnnotation] }
      : noSurplus;
  const isHandedOver = live.owner === undefined || live.appliedHash === undefined;
  return isHandedOver ? { ...noSurplus, fields: foreignFields(object, live.content.object) } : noSurplus;
}

/** A share wrote all its keys, and part of them by patches, which an apply of the policy does not undo. */
function keysOfShare(object: KubeObject, { keys, binaryKeys }: CopyFacts): JsonObject {
  const nulls = { data: keys, binaryData: binaryKeys };
  const entries = Object.entries(nulls).map(([field, names]) => {
    const surplus = names.filter((key) => ownMember(object[field], key) === undefined);
    return [field, Object.fromEntries(surplus.map((key) => [key, null]))] as const;
  });
  return Object.fromEntries(entries.filter(([, surplus]) => Object.keys(surplus).length > 0));
}

function surplusOf(object: KubeObject, { body }: CopyPayload, live: Observed | undefined): Surplus {
  const copy = live === undefined ? undefined : knownCopy(live);
  if (live === undefined || copy === undefined) return noSurplus;
  const { facts, metadata } = copy;
  const without = (field: 'data' | 'binaryData', keys: readonly string[]) =>
    keys.filter((key) => ownMember(body[field], key) === undefined);
  const data = without('data', facts.keys);
  const binaryData = without('binaryData', facts.binaryKeys);
  const isOfEarlierForm =
    live.owner !== undefined && live.appliedHash !== valueOf(annotationsOf(object), appliedAnnotation);
  // An adopted object can have labels and annotations of its previous owner. They stay.
  if (!isOfEarlierForm || live.isAdopted) return { ...noSurplus, data, binaryData };
  const [before, wanted] = [{ metadata }, object];
  const labels = Object.keys(labelsOf(before)).filter(
    (key) => key !== adoptLabel && !Object.hasOwn(labelsOf(wanted), key),
  );
  const annotations = Object.keys(annotationsOf(before)).filter(
    (key) => !Object.hasOwn(annotationsOf(wanted), key),
  );
  return { ...noSurplus, data, binaryData, labels, annotations };
}

/** A ConfigMap of another owner is known as a whole. */
function knownCopy({ content }: Observed) {
  if (content.kind === 'object') return copyIn(content.object);
  return content.kind === 'copy' ? content : undefined;
}

// Compares a live object with the desired object, and decides which write brings it in sync.

/**
 * `dry-run`: the objects differ, but the API server may have stored the same value in another form. A dry run shows this.
 * `replace`: an immutable field differs, so the object must be deleted and created again.
 */
type NeededWrite = 'none' | 'update' | 'dry-run' | 'replace';

export function compareCopy(wanted: KubeObject, payload: CopyPayload, live: Observed): NeededWrite {
  const copy = knownCopy(live);
  if (copy === undefined) return 'update';
  const { facts, metadata } = copy;
  const isSame = facts.hash === payload.facts.hash;
  if (isSame) return hasMetadata({ metadata }, wanted) ? 'none' : 'update';
  // https://kubernetes.io/docs/concepts/configuration/secret/#secret-immutable; The type of a Secret is immutable.
  return facts.type !== payload.facts.type || facts.isImmutable ? 'replace' : 'update';
}

export function compareRoleBinding(wanted: KubeObject, live: KubeObject): NeededWrite {
  // https://kubernetes.io/docs/reference/access-authn-authz/rbac/#clusterrolebinding-example: A roleRef is immutable.
  if (!isDeepStrictEqual(live['roleRef'], wanted['roleRef'])) return 'replace';
  const isSame =
    isDeepStrictEqual(live['subjects'] ?? [], wanted['subjects'] ?? []) &&
    valueOf(annotationsOf(live), appliedAnnotation) === valueOf(annotationsOf(wanted), appliedAnnotation);
  return isSame && hasMetadata(live, wanted) && !hasOldExpiry(wanted, live) ? 'none' : 'update';
}

function hasOldExpiry(wanted: KubeObject, live: KubeObject): boolean {
  return (
    Object.hasOwn(annotationsOf(live), expiresAtAnnotation) &&
    !Object.hasOwn(annotationsOf(wanted), expiresAtAnnotation)
  );
}

export function compareResource(wanted: KubeObject, live: KubeObject): NeededWrite {
  const applied = valueOf(annotationsOf(live), appliedAnnotation);
  if (applied !== valueOf(annotationsOf(wanted), appliedAnnotation)) return 'update';
  return isPartOf(wanted, live) ? 'none' : 'dry-run';
}

function hasMetadata(live: KubeObject, wanted: KubeObject): boolean {
  return isPartOf(labelsOf(wanted), labelsOf(live)) && isPartOf(annotationsOf(wanted), annotationsOf(live));
}

/** Fields of every object, which are not compared as content. */
const commonFields = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Returns the merge patch that removes fields that are not wanted. The API server then sets its defaults again. */
export function foreignFields(wanted: KubeObject, live: KubeObject): JsonObject {
  const own = Object.entries(live).filter(([field]) => !commonFields.has(field));
  return withoutForeign(wanted, Object.fromEntries(own));
}

function withoutForeign(wanted: JsonObject, live: JsonObject): JsonObject {
  const changes = Object.entries(live).flatMap(([field, value]): readonly (readonly [string, unknown])[] => {
    if (!Object.hasOwn(wanted, field)) return [[field, null]];
    const wantedValue = wanted[field];
    if (Array.isArray(wantedValue)) return isPartOf(wantedValue, value) ? [] : [[field, wantedValue]];
    if (!isJsonObject(wantedValue) || !isJsonObject(value)) return [];
    const inner = withoutForeign(wantedValue, value);
    return Object.keys(inner).length === 0 ? [] : [[field, inner]];
  });
  return Object.fromEntries(changes);
}

/** Returns true if `live` holds everything that `wanted` holds. */
function isPartOf(wanted: unknown, live: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, index) => isPartOf(item, live[index]))
    );
  }
  if (isJsonObject(wanted)) {
    return Object.entries(wanted).every(
      ([key, value]) => value === null || isPartOf(value, ownMember(live, key)),
    );
  }
  return isDeepStrictEqual(wanted, live);
}
