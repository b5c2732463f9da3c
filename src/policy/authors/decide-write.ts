// Judges one write of a provider: its impact, what it must not do, the rights of its author, and the warnings.
import { isDeepStrictEqual } from 'node:util';
import { renderPath, type Problem } from '../../base/problem.ts';
import { isTerminating } from '../../base/metadata.ts';
import type { Steps } from '../terms/budget.ts';
import { namespaceOfProvider, type ProviderId } from '../terms/provider-id.ts';
import type { ProviderReview } from '../terms/review.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { nothingToDecide, type Decision, type JudgedViolation } from '../terms/verdict.ts';
import { differingDefaults } from '../decide/differing-defaults.ts';
import { authorRights, rolesToBind } from './author-rights.ts';
import { policyIn, type ProviderCircumstances, type ProviderWrite } from './provider-write.ts';
import { impactOf, type Impact } from './impact.ts';
import { cascadeViolation, denies, finalizerViolation, fuseViolation, unmatchedViolation } from './guards.ts';
import { misspelledRoles } from './meant-role.ts';
import { notKeptText } from './intent-notices.ts';
import {
  partsWithoutEffect,
  uncountedNamespaces,
  unreachedIntents,
  type PartWithoutEffect,
} from './no-effect.ts';
import { noticesOf, unknownNotice } from './notices.ts';

/** A write that leaves the spec alone is allowed, so that finalizers can always be removed. */
export function isUntouched({ object, oldObject }: ProviderReview): boolean {
  if (oldObject === undefined) return false;
  if (object === undefined) return isTerminating(oldObject);
  // A provider that is being deleted enforces its rules until the end, so its spec is decided like any other.
  return isDeepStrictEqual(object['spec'], oldObject['spec']);
}

export function* decideWrite(
  review: ProviderReview,
  write: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Decision> {
  const impact = yield* impactOf(write, snapshot, circumstances);
  return decisionOn(review, write, impact, snapshot, circumstances);
}

// oxlint-disable-next-line max-params -- two callers, which have them all at hand
export function decisionOn(
  review: ProviderReview,
  write: ProviderWrite,
  impact: Impact,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Decision {
  const stays = cascadeViolation(review, write, impact) ?? finalizerViolation(write, impact);
  const fuse = stays ?? fuseViolation(review, write, impact, circumstances.now);
  const unmatched = unmatchedViolation(write, impact);
  // A refusal already names these namespaces, so no notice repeats them.
  const toReport = {
    ...impact,
    ...(fuse === undefined ? {} : { dropped: new Map<string, number>() }),
    ...(unmatched === undefined ? {} : { unmatched: [] }),
  };
  const rights = authorRights(write, snapshot, circumstances);
  const isUnknown = review.oldObject !== undefined && write.before === undefined;
  return {
    ...nothingToDecide,
    rights,
    ownRights: rolesToBind(write, rights),
    violations: [unmatched, fuse].filter((violation) => violation !== undefined),
    notices: [
      ...(isUnknown ? [unknownNotice(write)] : []),
      ...noticesOf(write, toReport, circumstances.install),
      ...differences(write, snapshot, circumstances),
      ...withoutEffect(write, impact, snapshot, circumstances),
      ...misspelledRoles(write, snapshot).map(({ message }) => message),
    ],
    // The reconciler counts deletions again, by live objects. Only a policy with Deny could do harm where it is not known.
    overBudget: impact.isCutShort && denies(write.after),
  };
}

/** Defaults on which the written version differs from another policy, unless the older version did so in the same way. */
function differences(
  { id, before, after }: ProviderWrite,
  snapshot: ClusterSnapshot,
  { budget }: ProviderCircumstances,
): readonly string[] {
  const [old, now] = [before, after].map((version) => {
    const policy = policyIn(version);
    return policy === undefined ? [] : differingDefaults(policy, snapshot, budget).map(textOf);
  });
  return (now ?? []).filter((text) => old?.includes(text) !== true).map((text) => `${id}: ${text}`);
}

/** Without a cluster no namespace is known, so a policy that matches none is no surprise. A namespace that was left out may match. */
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

export function specViolation({ path, found, accepted, message, offset }: Problem): JudgedViolation {
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
