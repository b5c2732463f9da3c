// Describes the input of the engine: one admission request, decoded and checked, as plain data.
import type { RuledWrite, ReviewedResource } from '../../rules/rule.ts';
import { kindDefinitions, type DecidingKind } from '../../api/kinds.ts';
import type { ValidationAction } from '../../api/namespace-policy/namespace-policy.ts';
import type { RuleId } from '../../rules/rules.ts';

export type Subresource = '' | 'status' | 'finalize';

interface AdmissionRequest extends RuledWrite {
  readonly uid: string;
  readonly subresource: Subresource;
  /** Empty until the API server has named an object with `generateName`. */
  readonly name: string;
  /** For a Namespace: its own name. Empty for all other cluster-scoped kinds. */
  readonly namespace: string;
  readonly dryRun: boolean;
}

export interface Review extends AdmissionRequest {
  readonly resource: ReviewedResource;
}

/** A review of one of our own kinds. Such a write decides about objects in namespaces. */
export interface ProviderReview extends AdmissionRequest {
  readonly resource: DecidingKind['plural'];
}

/** A review of a NamespaceClaim. Its writer is judged as the user who creates the Namespace. */
export interface ClaimReview extends AdmissionRequest {
  readonly resource: 'namespaceclaims';
}

export type AnyReview = Review | ProviderReview | ClaimReview;

export function isProviderReview(review: AnyReview): review is ProviderReview {
  return isProviderResource(review.resource);
}

export function isProviderResource(resource: AnyReview['resource']): resource is ProviderReview['resource'] {
  return kindDefinitions.some(({ plural, word }) => plural === resource && word !== 'claim');
}

export function isClaimReview(review: AnyReview): review is ClaimReview {
  return review.resource === 'namespaceclaims';
}

/**
 * The fields of `request` that expressions may read, named as in ValidatingAdmissionPolicy.
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#validation-expression
 */
export const requestAttributes = [
  'kind',
  'resource',
  'subResource',
  'requestKind',
  'requestResource',
  'requestSubResource',
  'name',
  'namespace',
  'operation',
  'userInfo',
  'dryRun',
  'options',
] as const;

// Describes the output of the engine: violations, the rights that the requester needs, and the verdict.

/** A violation of a rule or guard. It never holds anything from the payload of a Secret. */
export interface Violation {
  /** The name of the policy or share. Empty for a guard on objects of our own kinds. */
  readonly policy: string;
  /** The kind of `policy`. Absent for a policy, `reeve` for a guard on objects of our own kinds. */
  readonly by?: 'share' | 'reeve';
  /** The path of the field that states the rule: `namespaces.required`, `secrets.tls`, `validations/short`. */
  readonly rule: string;
  /** The path of the field in the object. */
  readonly path: string;
  readonly found: string;
  readonly accepted: string;
  /** The reason as a sentence. A refusal shows it in place of `found` and `accepted`. */
  readonly message?: string;
  /** The `spec.contact` of the policy or share. */
  readonly contact?: string;
  /** True for a missing key that the mutating webhook sets, unless the API server got no answer from that webhook. */
  readonly isSetByReeve?: true;
}

/** Returns the violation as a sentence, without its rule. */
export function violationText({
  path,
  found,
  accepted,
  message,
}: Pick<Violation, 'path' | 'found' | 'accepted' | 'message'>): string {
  return message ?? `${path}: found ${found}; accepted: ${accepted}`;
}

/** A violation with the validationActions of its policy. */
export interface JudgedViolation {
  readonly violation: Violation;
  readonly actions: readonly ValidationAction[];
  /** The right that permits the write. A user who has this right violates nothing. */
  readonly permittedBy?: Right;
  /** Paths of keys whose lack causes this violation. It says nothing new if other violations demand all of these keys. */
  readonly dueTo?: readonly string[];
  /** True for a template or condition that fails with the values of the object, because another violation may be the cause. */
  readonly isConsequence?: true;
}

/** People mend the first violation of a list, so causes come before their consequences. */
export function causesFirst(violations: readonly JudgedViolation[]): readonly JudgedViolation[] {
  if (!violations.some(({ isConsequence }) => isConsequence)) return violations;
  const { causes = [], consequences = [] } = Object.groupBy(violations, ({ isConsequence }) =>
    isConsequence === true ? 'consequences' : 'causes',
  );
  return [...causes, ...consequences];
}

/** An RBAC right that the requester must have, cluster-wide without a namespace. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Absent: the right to all objects of the resource. */
  readonly name?: string;
  readonly namespace?: string;
  /** Another right that is enough, too. */
  readonly instead?: Right;
  /** The part of the write that needs the right, as the subject of a sentence: "label team=a". Absent: the whole write. */
  readonly cause?: string;
  /** The paths of all fields whose change needs the right. Absent: unknown. */
  readonly causedBy?: readonly string[];
  /** The effect of the write, in the words of a message: "hand out ClusterRole edit". */
  readonly effect: string;
  /** The guard that requires it. `rule`: it permits what a rule refuses to other users. */
  readonly rule: 'steering' | 'authors' | 'rule';
  /** The path of the field in the object. */
  readonly path: string;
  /** The `spec.contact` of the policy or share that requires it. Absent: ask a cluster administrator. */
  readonly contact?: string;
}

/** A right of Reeve's own account, and the warning where the account lacks it. */
export interface OwnRight extends Right {
  readonly notice: string;
}

/** Equal for two rights that one access review answers. */
export type RightKey = string;

export function rightKey({
  verb,
  group,
  resource,
  name,
  namespace,
}: Pick<Right, 'verb' | 'group' | 'resource'> & Partial<Right>): RightKey {
  return JSON.stringify([verb, group, resource, name, namespace]);
}

/** The pure part of a decision: the violations, and the rights that the requester needs. */
export interface Decision {
  readonly violations: readonly JudgedViolation[];
  readonly rights: readonly Right[];
  /** Rights that Reeve's own account needs later. A missing right refuses nothing, but its notice warns the author. */
  readonly ownRights: readonly OwnRight[];
  /** Warnings about the effects of the write. */
  readonly notices: readonly string[];
  /** The policies that match the object, by name. */
  readonly policies: readonly string[];
  /** True when the evaluation budget ran out. The review is then refused in any case. */
  readonly overBudget: boolean;
  /** Names of the policies that could only report, and that the budget did not reach. */
  readonly unjudged: readonly string[];
}

export const nothingToDecide: Decision = {
  violations: [],
  rights: [],
  ownRights: [],
  notices: [],
  policies: [],
  overBudget: false,
  unjudged: [],
};

/** Returns the rights that the verdict depends on. */
export function askedRights({ rights, violations }: Decision): readonly Right[] {
  return [...rights, ...violations.flatMap(({ permittedBy = [] }) => permittedBy)];
}

export type AccessAnswer = 'yes' | 'no' | 'unknown';

export interface Verdict {
  readonly allowed: boolean;
  readonly denials: readonly Violation[];
  readonly warnings: readonly Violation[];
  readonly audits: readonly Violation[];
  readonly notices: readonly string[];
  readonly policies: readonly string[];
  readonly overBudget: boolean;
  readonly unjudged: readonly string[];
}

// Records the result of each rule for a write, for commands that explain a request or count the rules that tests reach.

/** A violation before the policy and the rule are added. */
export interface TracedViolation extends Pick<Violation, 'path' | 'found' | 'accepted' | 'message'> {
  /** See `RuleViolation`. */
  readonly permittedByUse?: string;
}

export interface RuleOutcome {
  readonly policy: string;
  readonly rule: RuleId;
  /** `unasked`: the rule judges the state of an object, and the policy matches no object after the write. */
  readonly kind: 'judged' | 'excepted' | 'unasked';
  /** Violations that count with all of these actions. A refusal may leave out some that repeat another one. */
  readonly fresh: readonly TracedViolation[];
  /** Violations that the old object had as well: they are reported and block no write. */
  readonly old: readonly TracedViolation[];
  readonly actions: readonly ValidationAction[];
}

/** Called for each rule of a policy that matches. The webhook has no trace. */
export type Trace = (outcome: RuleOutcome) => void;
