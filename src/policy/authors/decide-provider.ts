// Decides a write of a provider or intent: the problems of its spec first, then its effects.
import { isTerminating } from '../../base/metadata.ts';
import { kinds, type ProviderKind } from '../../api/kinds.ts';
import {
  namespaceOfProvider,
  providerId,
  providerKinds,
  type ProviderId,
  compareProviders,
} from '../terms/provider-id.ts';
import type { Steps } from '../terms/budget.ts';
import {
  type ProviderReview,
  nothingToDecide,
  type Decision,
  type JudgedViolation,
} from '../terms/review.ts';
import type { ClusterSnapshot, StoredBinding } from '../compile/snapshot.ts';
import {
  reportedOn,
  type ProviderCircumstances,
  versionsOf,
  writeContexts,
  BindingForms,
  type WriteContexts,
  type ProviderWrite,
} from './provider-write.ts';
import {
  confirmationNotices,
  cascadeViolation,
  changesViolation,
  finalizerViolation,
  fuseViolation,
  unmatchedViolation,
} from './guards.ts';
import { sourceProblems, loadIntent, policyIn } from '../compile/load-provider.ts';
import { forNewBinding, withIntent } from '../intents/intent-context.ts';
import { ownMember } from '../../base/json.ts';
import { impactOf, type Impact } from './impact.ts';
import { IntentEffects, type BindingEffect, notKeptText } from './intent-effects.ts';
import { isDeepStrictEqual } from 'node:util';
import { renderPath, type Problem } from '../../base/problem.ts';
import { differingDefaults } from '../decide/differing-defaults.ts';
import { authorRights, rolesToBind } from './author-rights.ts';
import {
  misspelledRoles,
  partsWithoutEffect,
  uncountedNamespaces,
  unreachedIntents,
  type PartWithoutEffect,
} from './no-effect.ts';
import { noticesOf, unknownNotice } from './notices.ts';

/** Returns undefined for an intent, because its write is judged as a write of each binding that names it. */
function kindOf({ resource }: ProviderReview): ProviderKind | undefined {
  return providerKinds.find((kind) => kinds[kind].plural === resource);
}

/** Names the object of the review, such as `NamespacePolicy/team-namespaces`. */
export function reviewSubject(review: ProviderReview): string {
  const kind = kindOf(review);
  return kind === undefined
    ? `SecurityIntent/${review.name}`
    : providerId(kind, review.name, review.namespace);
}

export function* decideProvider(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Decision> {
  const kind = kindOf(review);
  if (kind === undefined) return yield* decideIntent(review, snapshot, circumstances);
  const { object, oldObject } = review;
  const id = providerId(kind, review.name, review.namespace);
  if (isUntouched(review) || isSweptAway(review, id, snapshot))
    return { ...nothingToDecide, notices: confirmationNotices(review, id) };
  const { context } = snapshot.intents;
  const contexts = writeContexts(oldObject === undefined ? forNewBinding(context) : context);
  const { problems, ...versions } = versionsOf(kind, { before: oldObject, after: object }, contexts);
  const all = [
    ...problems,
    ...(object === undefined ? [] : sourceProblems(kind, object, circumstances.install)),
  ];
  if (all.length > 0) return { ...nothingToDecide, violations: all.map(specViolation) };
  const write = { id, ...versions, reported: reportedOn(oldObject) };
  return yield* decideWrite(review, write, snapshot, circumstances);
}

/** Returns true while the namespace of the object is being deleted. A refusal would only delay that deletion. */
function isSweptAway({ object }: ProviderReview, id: ProviderId, snapshot: ClusterSnapshot): boolean {
  const namespace = namespaceOfProvider(id);
  const namespaceObject = namespace === undefined ? undefined : snapshot.namespace(namespace);
  return object === undefined && namespaceObject !== undefined && isTerminating(namespaceObject);
}

// Decides a write of an intent as a write of each binding that names it.

type NamedBinding = StoredBinding & { readonly id: ProviderId };

function* decideIntent(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Decision> {
  if (isUntouched(review)) return nothingToDecide;
  const [before, after] = [review.oldObject, review.object].map((object) =>
    object === undefined ? undefined : loadIntent(object),
  );
  if (after?.ok === false) return { ...nothingToDecide, violations: after.problems.map(specViolation) };
  const { context } = snapshot.intents;
  const contexts = writeContexts(
    // If the older version does not load, an earlier version can still be in force.
    before?.ok === false ? context : withIntent(context, review.name, before?.value),
    withIntent(context, review.name, after?.value),
  );
  const effects = new IntentEffects(
    review.name,
    before?.ok === true ? before.value : undefined,
    after?.value,
  );
  yield* addEffects(effects, contexts, review, snapshot, circumstances);
  return effects.decision(context, circumstances.install);
}

// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function* addEffects(
  effects: IntentEffects,
  contexts: WriteContexts,
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<void> {
  const forms = new BindingForms(contexts);
  for (const binding of bindingsNaming(review.name, snapshot)) {
    yield;
    if (circumstances.budget.isSpent()) effects.leaveOut(binding.id, circumstances.budget.isLate);
    else if (!forms.isSame(binding))
      effects.add(yield* effectOn(binding, contexts, review, snapshot, circumstances));
  }
}

/** Puts bindings of the cluster first, so that the end of the time leaves them out last. */
function bindingsNaming(name: string, { intents }: ClusterSnapshot): readonly NamedBinding[] {
  const found: NamedBinding[] = [];
  for (const { kind, object } of intents.bindings()) {
    const names = ownMember(object['spec'], 'intents');
    if (!Array.isArray(names) || !names.includes(name)) continue;
    const id = providerId(kind, object.metadata.name ?? '', object.metadata.namespace);
    found.push({ kind, object, id });
  }
  return found.sort((a, b) => compareProviders(a.id, b.id));
}

// oxlint-disable-next-line max-params -- one caller, which has them all at hand
function* effectOn(
  { id, kind, object }: NamedBinding,
  contexts: WriteContexts,
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<BindingEffect> {
  const versions = versionsOf(kind, { before: object, after: object }, contexts);
  const { problems, ...definitions } = versions;
  if (problems.length > 0) return { id, problems, decision: nothingToDecide, dropped: new Map() };
  const write: ProviderWrite = { id, ...definitions, reported: reportedOn(object), isByIntent: true };
  const impact = yield* impactOf(write, snapshot, circumstances);
  const { name = '', namespace = '' } = object.metadata;
  const resource = kinds[kind].plural;
  const ofBinding = { resource, name, namespace, operation: 'UPDATE', object, oldObject: object } as const;
  const decision = decisionOn(
    { ...review, ...ofBinding, attributes: {} },
    write,
    impact,
    snapshot,
    circumstances,
  );
  return { id, problems, decision, dropped: impact.dropped };
}

// Judges one write of a provider: its impact, forbidden effects, the rights of its author, and the warnings.

/** Returns true for a write that keeps the spec. Such a write is allowed, so that finalizers can always be removed. */
function isUntouched({ object, oldObject }: ProviderReview): boolean {
  if (oldObject === undefined) return false;
  if (object === undefined) return isTerminating(oldObject);
  // A provider that is being deleted enforces its rules until its end, so a change of its spec is decided as usual.
  return isDeepStrictEqual(object['spec'], oldObject['spec']);
}

function* decideWrite(
  review: ProviderReview,
  write: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Decision> {
  const impact = yield* impactOf(write, snapshot, circumstances);
  return decisionOn(review, write, impact, snapshot, circumstances);
}

// oxlint-disable-next-line max-params -- two callers, which have them all at hand
function decisionOn(
  review: ProviderReview,
  write: ProviderWrite,
  impact: Impact,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Decision {
  const stays = cascadeViolation(review, write, impact) ?? finalizerViolation(write, impact);
  const fuse = stays ?? fuseViolation(review, write, impact, circumstances.now);
  const changes = changesViolation(review, write, impact);
  const unmatched = unmatchedViolation(impact);
  // A refusal already names these namespaces, so no notice repeats them.
  const toReport = {
    ...impact,
    ...(fuse === undefined ? {} : { dropped: new Map<string, number>() }),
    ...(changes === undefined ? {} : { replaced: new Map<string, string[]>() }),
    ...(unmatched === undefined ? {} : { unmatched: [] }),
  };
  const rights = authorRights(write, snapshot, circumstances);
  const isUnknown = review.oldObject !== undefined && write.before === undefined;
  return {
    ...nothingToDecide,
    rights,
    ownRights: rolesToBind(write, rights),
    violations: [unmatched, fuse, changes].filter((violation) => violation !== undefined),
    notices: [
      ...(isUnknown ? [unknownNotice(write)] : []),
      ...noticesOf(write, toReport, circumstances.install),
      ...differences(write, snapshot, circumstances),
      ...withoutEffect(write, impact, snapshot, circumstances),
      ...misspelledRoles(write.id, write.before, write.after, snapshot).map(({ message }) => message),
    ],
    // The reconciler counts deletions again, by live objects. So only a policy with Deny could do harm with an unknown impact.
    overBudget: impact.isCutShort && impact.canDeny,
  };
}

/** Returns differing defaults that the write adds, without those that the older version already had. */
function differences(
  { id, before, after }: ProviderWrite,
  snapshot: ClusterSnapshot,
  { budget }: ProviderCircumstances,
): readonly string[] {
  const [old, now] = [before, after].map((version) => {
    const policy = policyIn(version)?.compiled;
    return policy === undefined ? [] : differingDefaults(policy, snapshot, budget).map(textOf);
  });
  return (now ?? []).filter((text) => old?.includes(text) !== true).map((text) => `${id}: ${text}`);
}

/** Finds parts without effect. A policy that matches no namespace counts only if all namespaces are known and were judged. */
function withoutEffect(
  { id, after }: ProviderWrite,
  { managed, matched, unmatched, tooDear, late }: Impact,
  snapshot: ClusterSnapshot,
  { now }: ProviderCircumstances,
): readonly string[] {
  if (after === undefined) return [];
  const isBlind = managed === 0 && !isKnown(id, snapshot);
  const reach = { matched: isBlind ? 1 : matched + tooDear.length + late.length, errors: unmatched.length };
  const unreached = isBlind ? [] : unreachedIntents(after, snapshot).map(notKeptText);
  const parts = partsWithoutEffect(after, reach, snapshot, now).map(textOf);
  const uncounted = uncountedNamespaces(after, snapshot).map(textOf);
  return [...parts, ...unreached, ...uncounted].map((part) => `${id}: ${part}`);
}

function specViolation({ path, found, accepted, message, offset }: Problem): JudgedViolation {
  const where = offset === undefined ? '' : ` (character ${offset + 1} of the text)`;
  const violation = {
    policy: '',
    by: 'reeve',
    rule: 'spec',
    path: renderPath(path),
    found: `${found}${where}`,
    accepted,
    ...(message === undefined ? {} : { message: `${renderPath(path)}: ${message}${where}` }),
  } as const;
  return { violation, actions: ['Deny'] };
}

function textOf({ message }: Pick<PartWithoutEffect, 'message'>): string {
  return message;
}

/** True for a tenant's binding whose namespace is known. */
function isKnown(id: ProviderId, snapshot: ClusterSnapshot): boolean {
  const namespace = namespaceOfProvider(id);
  return namespace !== undefined && snapshot.namespace(namespace) !== undefined;
}
