// Decides a write of a NamespaceClaim, and of its Namespace: as if the writer of the claim wrote the Namespace.
import { isDeepStrictEqual } from 'node:util';
import type { NamespaceClaim } from '../../api/namespace-claim/namespace-claim.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { annotationsOf, isTerminating, type KubeObject } from '../../base/metadata.ts';
import { nearestWord } from '../../base/nearest.ts';
import { renderPath, type Problem } from '../../base/problem.ts';
import { quoted } from '../../base/text.ts';
import type { Requester } from '../../rules/rule.ts';
import { requestedByAnnotation } from '../../schema/names.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { decide } from '../decide/decide.ts';
import { mutate, patchedBy, type JsonPatchOperation, type Mutation } from '../decide/mutate.ts';
import type { Circumstances } from '../terms/budget.ts';
import { claimedNamespace, deletesNamespace, isOfClaim, readClaim } from '../terms/claim.ts';
import type { Install } from '../terms/install.ts';
import {
  nothingToDecide,
  type ClaimReview,
  type Decision,
  type JudgedViolation,
  type Review,
  type Violation,
} from '../terms/review.ts';

/** Stamps the claim with its writer. A write that keeps the rest of the spec keeps the stamp. */
export function stampClaim(review: ClaimReview): Mutation {
  const { object } = review;
  const stamp = wantedStamp(review);
  const spec = object?.['spec'];
  const isStamped = isJsonObject(spec) && isDeepStrictEqual(spec['requester'], stamp);
  const patch =
    !isJsonObject(spec) || stamp === undefined || isStamped
      ? []
      : [{ op: 'add', path: stampPath, value: stamp } as const];
  return { patch, denials: [], policies: [], notices: [], overBudget: false };
}

/** Returns the claim as the patch of `stampClaim` leaves it. */
export function withStamp(object: KubeObject, patch: readonly JsonPatchOperation[]): KubeObject {
  const spec = object['spec'];
  const [stamp] = patch;
  if (stamp === undefined || !isJsonObject(spec)) return object;
  return { ...object, spec: { ...spec, requester: stamp.value } };
}

const stampPath = '/spec/requester';

export function decideClaim(
  review: ClaimReview,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances & { readonly install: Pick<Install, 'namespaceClaims'> },
): Decision {
  const { object, oldObject } = review;
  if (object === undefined) return decideRemoval(review, snapshot, circumstances);
  // Finalizers and annotations can always be written.
  if (oldObject !== undefined && isDeepStrictEqual(object['spec'], oldObject['spec'])) return nothingToDecide;
  if (!circumstances.install.namespaceClaims) return refusing(switchedOff);
  const claim = readClaim(object);
  if (!claim.ok) return refusing(...claim.problems.map(specViolation));
  const problem = stampProblem(review) ?? fixedProblem(claim.value, review, snapshot);
  if (problem !== undefined) return refusing(problem);
  // Its Namespace exists already, so only what happens at the end of the claim can change.
  if (isSettled(oldObject, claim.value, snapshot)) return nothingToDecide;
  return decideCreation(review, claim.value, object, snapshot, circumstances);
}

// The stamp, and what may change.

function wantedStamp(review: ClaimReview): JsonObject | undefined {
  const { object, oldObject, requester } = review;
  const [spec, oldSpec] = [object?.['spec'], oldObject?.['spec']];
  if (!isDeepStrictEqual(unstamped(spec), unstamped(oldSpec))) return stampOf(requester);
  const kept = isJsonObject(oldSpec) ? oldSpec['requester'] : undefined;
  return isJsonObject(kept) ? kept : stampOf(requester);
}

/** Leaves out what is empty, as the API server does. */
function stampOf({ username, uid = '', groups, extra = {} }: Requester): JsonObject {
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function unstamped(spec: unknown): unknown {
  if (!isJsonObject(spec)) return spec;
  const { requester: _, ...rest } = spec;
  return rest;
}

function stampProblem(review: ClaimReview): Violation | undefined {
  const spec = review.object?.['spec'];
  const stamp = isJsonObject(spec) ? spec['requester'] : undefined;
  if (isDeepStrictEqual(stamp, wantedStamp(review))) return undefined;
  const accepted = 'the user of the request, as the mutating webhook of Reeve sets it';
  if (stamp === undefined) return { ...guard('spec.requester', 'nothing', accepted), isSetByReeve: true };
  return guard('spec.requester', 'another user', accepted);
}

/** The rest was judged when the Namespace was created. */
const fixedFields = ['policy', 'labels', 'annotations'] as const;

function fixedProblem(
  { spec }: NamespaceClaim,
  { oldObject }: ClaimReview,
  snapshot: ClusterSnapshot,
): Violation | undefined {
  const old = oldObject === undefined ? undefined : readClaim(oldObject);
  if (old?.ok !== true) return undefined;
  const before = old.value;
  const other = 'write another claim for another namespace';
  if (spec.name !== before.spec.name)
    return guard('spec.name', quoted(spec.name), `${quoted(before.spec.name)}; ${other}`);
  if (!isSettled(oldObject, before, snapshot)) return undefined;
  const changed = fixedFields.find((field) => !isDeepStrictEqual(spec[field], before.spec[field]));
  const accepted = `the field as it is, because namespace ${spec.name} exists; change the Namespace itself`;
  return changed === undefined ? undefined : guard(`spec.${changed}`, 'another value', accepted);
}

function isSettled(
  old: KubeObject | undefined,
  { spec }: NamespaceClaim,
  snapshot: ClusterSnapshot,
): boolean {
  if (old === undefined) return false;
  return isTerminating(old) || isOfClaim(snapshot.namespace(spec.name), old);
}

// The Namespace, as if the writer of the claim created or deleted it.

function decideCreation(
  review: ClaimReview,
  claim: NamespaceClaim,
  object: KubeObject,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  const { name } = claim.spec;
  const impossible = impossibleName(name, snapshot) ?? unknownPolicy(claim, snapshot);
  if (impossible !== undefined) return refusing(impossible);
  const namespaceObject = requestedBy(claimedNamespace(claim, object), review.requester);
  const creation = asNamespaceReview(review, name, { object: namespaceObject });
  const { patch, denials, overBudget } = mutate(creation, snapshot, circumstances);
  if (overBudget || denials.length > 0) return { ...refusing(...denials), overBudget };
  const defaulted = { ...creation, object: patchedBy(namespaceObject, patch) };
  return asClaim(decideMatched(defaulted, claim, snapshot, circumstances));
}

function impossibleName(name: string, snapshot: ClusterSnapshot): Violation | undefined {
  if (snapshot.policies.isExcluded(name))
    return guard('spec.name', quoted(name), 'a namespace that this installation does not exclude');
  if (snapshot.namespace(name) === undefined) return undefined;
  return guard('spec.name', `namespace ${quoted(name)}, which exists already`, 'the name of a new namespace');
}

function unknownPolicy(
  { spec: { policy } }: NamespaceClaim,
  snapshot: ClusterSnapshot,
): Violation | undefined {
  const known = snapshot.policies.policies.map(({ name }) => name);
  if (known.includes(policy)) return undefined;
  const meant = nearestWord(policy, known);
  const hint = meant === undefined ? '' : `; did you mean ${quoted(meant)}?`;
  return guard(
    'spec.policy',
    `${quoted(policy)}, which does not exist`,
    `the name of a NamespacePolicy${hint}`,
  );
}

export function decideMatched(
  review: Review,
  { spec: { policy } }: NamespaceClaim,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  const decision = decide(review, snapshot, circumstances);
  if (decision.overBudget || decision.policies.includes(policy)) return decision;
  const found = `labels and a name that policy ${policy} does not match`;
  const unmatched = guard('metadata.labels', found, 'what its match asks for');
  return { ...decision, violations: [...decision.violations, { violation: unmatched, actions: ['Deny'] }] };
}

/** Warns on the way, because a claim looks like less than a namespace. */
function decideRemoval(
  review: ClaimReview,
  snapshot: ClusterSnapshot,
  circumstances: Circumstances,
): Decision {
  const { oldObject } = review;
  const claim = oldObject === undefined ? undefined : readClaim(oldObject);
  if (oldObject === undefined || claim?.ok !== true) return nothingToDecide;
  const { name } = claim.value.spec;
  const namespaceObject = snapshot.namespace(name);
  const around = snapshot.namespace(review.namespace);
  if (!deletesNamespace(claim.value, oldObject, namespaceObject)) return nothingToDecide;
  // A refusal would keep the namespace around the claim forever. Then the reconciler is refused.
  if (around !== undefined && isTerminating(around)) return nothingToDecide;
  const deletion = asNamespaceReview(review, name, { oldObject: namespaceObject });
  const decision = decide(deletion, snapshot, circumstances);
  return { ...decision, notices: [`namespace ${name} is deleted with the claim`, ...decision.notices] };
}

function asNamespaceReview(
  { uid, requester, dryRun, attributes }: ClaimReview,
  name: string,
  objects: Pick<Review, 'object' | 'oldObject'>,
): Review {
  const operation = objects.object === undefined ? 'DELETE' : 'CREATE';
  const type = { group: '', version: 'v1' };
  return {
    uid,
    requester,
    dryRun,
    resource: 'namespaces',
    subresource: '',
    operation,
    name,
    namespace: name,
    ...objects,
    attributes: {
      dryRun,
      name,
      namespace: name,
      operation,
      kind: { ...type, kind: 'Namespace' },
      resource: { ...type, resource: 'namespaces' },
      userInfo: attributes['userInfo'],
    },
  };
}

export function requestedBy(object: KubeObject, { username }: Requester): KubeObject {
  const annotations = { ...annotationsOf(object), [requestedByAnnotation]: username };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function placed<T extends { readonly path: string }>(each: T): T {
  return { ...each, path: each.path.replace(/^metadata(?=$|\.(?:name|labels|annotations))/u, 'spec') };
}

/** The claim has the same fields under another path. */
function asClaim(decision: Decision): Decision {
  const violations = decision.violations.map((each) => ({
    ...each,
    violation: placed(each.violation),
    ...(each.dueTo === undefined ? {} : { dueTo: each.dueTo.map((path) => placed({ path }).path) }),
  }));
  const rights = decision.rights.map((each) => ({
    ...placed(each),
    ...(each.causedBy === undefined ? {} : { causedBy: each.causedBy.map((path) => placed({ path }).path) }),
  }));
  return { ...decision, violations, rights };
}

// Violations.

export function guard(path: string, found: string, accepted: string): Violation {
  return { policy: '', by: 'reeve', rule: 'claim', path, found, accepted };
}

const switchedOff: Violation = {
  ...guard(
    'spec',
    'a NamespaceClaim',
    'none, because this installation does not create Namespaces (--namespace-claims)',
  ),
  message:
    'this installation creates no Namespaces for claims; ask a cluster administrator for --namespace-claims',
};

function specViolation({ path, found, accepted, message }: Problem): Violation {
  const at = renderPath(path);
  return {
    ...guard(at, found, accepted),
    rule: 'spec',
    ...(message === undefined ? {} : { message: `${at}: ${message}` }),
  };
}

export function refusing(...violations: readonly Violation[]): Decision {
  const denied = violations.map((violation): JudgedViolation => ({ violation, actions: ['Deny'] }));
  return { ...nothingToDecide, violations: denied };
}
