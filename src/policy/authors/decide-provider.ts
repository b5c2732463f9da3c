// Decides a write of a policy or share: problems of its spec, its impact, and the rights of its author.
import { isDeepStrictEqual } from 'node:util';
import { renderPath, type Problem } from '../../base/problem.ts';
import { isTerminating } from '../../base/metadata.ts';
import { providerId, type ProviderId } from '../terms/provider-id.ts';
import type { Steps } from '../terms/budget.ts';
import type { ProviderResource, ProviderReview } from '../terms/review.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { nothingToDecide, type Decision, type JudgedViolation } from '../terms/verdict.ts';
import { authorRights, rolesToBind } from './author-rights.ts';
import { reportedOn, type ProviderCircumstances, type ProviderWrite } from './provider-write.ts';
import { impactOf, type Impact } from './impact.ts';
import {
  cascadeViolation,
  confirmationNotices,
  denies,
  finalizerViolation,
  fuseViolation,
  unmatchedViolation,
} from './guards.ts';
import { sourceProblems } from '../compile/install.ts';
import {
  loadSubmitted,
  type ProviderDefinition,
  type ProviderForm,
  type ProviderLoad,
} from '../compile/load-provider.ts';
import { misspelledRoles } from './meant-role.ts';
import { partsWithoutEffect, uncountedNamespaces } from './no-effect.ts';
import { noticesOf, unknownNotice } from './notices.ts';

const kinds: Readonly<Record<ProviderResource, ProviderForm>> = {
  namespacepolicies: 'NamespacePolicy',
  secretshares: 'SecretShare',
};

export function reviewedProvider({ resource, name }: ProviderReview): ProviderId {
  return providerId(kinds[resource], name);
}

export function* decideProvider(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Decision> {
  const kind = kinds[review.resource];
  const id = reviewedProvider(review);
  if (isUntouched(review)) return { ...nothingToDecide, notices: confirmationNotices(review, id) };
  const { object, oldObject } = review;
  const after = object === undefined ? undefined : loadSubmitted(kind, object);
  const problems = [
    ...(after?.ok === false ? after.problems : []),
    ...(object === undefined ? [] : sourceProblems(kind, object, circumstances.install)),
  ];
  if (problems.length > 0) return { ...nothingToDecide, violations: problems.map(specViolation) };
  const before = oldObject === undefined ? undefined : loadSubmitted(kind, oldObject);
  const write = {
    id,
    before: definitionIn(before),
    after: definitionIn(after),
    reported: reportedOn(oldObject),
  };
  return yield* decideWrite(review, write, snapshot, circumstances);
}

/** A write that leaves the spec alone is allowed, so that finalizers can always be removed. */
function isUntouched({ object, oldObject }: ProviderReview): boolean {
  if (oldObject === undefined) return false;
  if (object === undefined) return isTerminating(oldObject);
  // A provider that is being deleted enforces its rules until the end, so its spec is decided like any other.
  return isDeepStrictEqual(object['spec'], oldObject['spec']);
}

function* decideWrite(
  review: ProviderReview,
  write: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Steps<Decision> {
  const impact = yield* impactOf(write, snapshot, circumstances);
  const stays = cascadeViolation(review, write, impact) ?? finalizerViolation(write, impact);
  const fuse = stays ?? fuseViolation(review, write, impact);
  const unmatched = unmatchedViolation(write, impact);
  // A refusal already names these namespaces, so no notice repeats them.
  const toReport = {
    ...impact,
    ...(fuse === undefined ? {} : { dropped: new Map<string, number>() }),
    ...(unmatched === undefined ? {} : { unmatched: [] }),
  };
  const rights = authorRights(write, snapshot, circumstances.install);
  const isUnknown = review.oldObject !== undefined && write.before === undefined;
  return {
    ...nothingToDecide,
    rights,
    ownRights: rolesToBind(write, rights),
    violations: [unmatched, fuse].filter((violation) => violation !== undefined),
    notices: [
      ...(isUnknown ? [unknownNotice(write)] : []),
      ...noticesOf(write, toReport, circumstances.install),
      ...withoutEffect(write, impact, snapshot, circumstances),
      ...misspelledRoles(write, snapshot),
    ],
    // The reconciler counts deletions again, by live objects. Only a policy with Deny could do harm where it is not known.
    overBudget: impact.isCutShort && denies(write.after),
  };
}

/** Without a cluster no namespace is known, so a policy that matches none is no surprise. A namespace that takes too long may match. */
function withoutEffect(
  { id, after }: ProviderWrite,
  { managed, matched, unmatched, tooSlow }: Impact,
  snapshot: ClusterSnapshot,
  { now }: ProviderCircumstances,
): readonly string[] {
  if (after === undefined) return [];
  const reach = { matched: managed === 0 ? 1 : matched + tooSlow.length, errors: unmatched.length };
  return [...partsWithoutEffect(after, reach, snapshot, now), ...uncountedNamespaces(after, snapshot)].map(
    (part) => `${id}: ${part}`,
  );
}

function definitionIn(load: ProviderLoad | undefined): ProviderDefinition | undefined {
  return load?.ok === true ? load.value : undefined;
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
