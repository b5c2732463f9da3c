// Decides a write or a deletion of a policy or share: what is wrong with it, and what it would do to the namespaces there are.
import { isDeepStrictEqual } from 'node:util';
import { renderPath, type Problem } from '../../base/problem.ts';
import type { Circumstances } from '../terms/budget.ts';
import { isTerminating } from '../../base/metadata.ts';
import { providerId, type ProviderKind } from '../terms/provider-id.ts';
import type { ProviderResource, ProviderReview } from '../terms/review.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { nothingToDecide, type Decision, type JudgedViolation } from '../terms/verdict.ts';
import { authorRights } from './author-rights.ts';
import type { ProviderWrite } from './provider-write.ts';
import { impactOf } from './impact.ts';
import { fuseViolation, unmatchedViolation } from './guards.ts';
import { sourceProblems, type Install } from '../compile/install.ts';
import { loadSubmitted, type ProviderDefinition, type ProviderLoad } from '../compile/load-provider.ts';
import { noticesOf, unknownNotice } from './notices.ts';

export interface ProviderCircumstances extends Circumstances {
  readonly install: Install;
}

const kinds: Readonly<Record<ProviderResource, ProviderKind>> = {
  namespacepolicies: 'NamespacePolicy',
  secretshares: 'SecretShare',
};

export function decideProvider(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Decision {
  if (isUntouched(review)) return nothingToDecide;
  const kind = kinds[review.resource];
  const { object, oldObject } = review;
  const after = object === undefined ? undefined : loadSubmitted(kind, object);
  const problems = [
    ...(after?.ok === false ? after.problems : []),
    ...(object === undefined ? [] : sourceProblems(kind, object, circumstances.install)),
  ];
  if (problems.length > 0) return { ...nothingToDecide, violations: problems.map(specViolation) };
  const before = oldObject === undefined ? undefined : loadSubmitted(kind, oldObject);
  const id = providerId(kind, review.name);
  const write = { id, before: definitionIn(before), after: definitionIn(after) };
  return decideWrite(review, write, snapshot, circumstances);
}

/** Whatever is wrong with a spec that stays, or with an object that goes, must not hold up its finalizers. */
function isUntouched({ object, oldObject }: ProviderReview): boolean {
  if (oldObject === undefined) return false;
  if (object === undefined) return isTerminating(oldObject);
  // The rules of one that is going hold until it is gone, so its spec is judged like any other.
  return isDeepStrictEqual(object['spec'], oldObject['spec']);
}

function decideWrite(
  review: ProviderReview,
  write: ProviderWrite,
  snapshot: ClusterSnapshot,
  circumstances: ProviderCircumstances,
): Decision {
  const impact = impactOf(write, snapshot, circumstances);
  const fuse = fuseViolation(review, write, impact);
  const unmatched = unmatchedViolation(write, impact);
  // What is refused is said there.
  const told = {
    ...impact,
    ...(fuse === undefined ? {} : { dropped: new Map<string, number>() }),
    ...(unmatched === undefined ? {} : { unmatched: [] }),
  };
  const isUnknown = review.oldObject !== undefined && write.before === undefined;
  return {
    ...nothingToDecide,
    rights: authorRights(write, snapshot, circumstances.install),
    violations: [unmatched, fuse].filter((violation) => violation !== undefined),
    notices: [...(isUnknown ? [unknownNotice(write)] : []), ...noticesOf(write, told, circumstances.install)],
    overBudget: circumstances.budget.isSpent(),
  };
}

function definitionIn(load: ProviderLoad | undefined): ProviderDefinition | undefined {
  return load?.ok === true ? load.value : undefined;
}

function specViolation({ path, found, accepted, offset }: Problem): JudgedViolation {
  const where = offset === undefined ? '' : ` (character ${offset + 1} of the text)`;
  const violation = {
    policy: '',
    by: 'reeve',
    rule: 'spec',
    path: renderPath(path),
    found: `${found}${where}`,
    accepted,
  } as const;
  return { violation, actions: ['Deny'] };
}
