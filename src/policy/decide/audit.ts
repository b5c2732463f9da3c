// Judges an existing Namespace, or an existing object in it, by the rules of a policy. Measures the cost of a policy.
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import {
  CountingBudget,
  defaultEvaluationUnits,
  isDear,
  unlimitedBudget,
  type Circumstances,
} from '../terms/budget.ts';
import { unitsText } from '../../base/text.ts';
import { type ProviderDefinition, policyIn } from '../compile/load-provider.ts';
import { isAuditable, rulesFor } from '../compile/snapshot.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { judge, withoutConsequences } from './judge.ts';
import { actionsIn, matchNamespace, type MatchError } from '../terms/match.ts';
import { type Review, causesFirst, type JudgedViolation, type Violation } from '../terms/review.ts';
import type { ReviewedResource } from '../../rules/rule.ts';

/** The result for one policy and one existing Namespace. */
interface NamespaceAudit {
  /** An error of the match counts as no match. */
  readonly isMatched: boolean;
  readonly matchError: MatchError | undefined;
  readonly violations: readonly Violation[];
}

/** The objects in namespaces that policies have rules for. */
export type AuditedResource = Exclude<ReviewedResource, 'namespaces'>;

const unmatched: NamespaceAudit = { isMatched: false, matchError: undefined, violations: [] };

export function auditNamespace(
  policy: CompiledPolicy,
  namespaceObject: KubeObject,
  circumstances: Circumstances,
): NamespaceAudit {
  const match = matchNamespace(policy.match, namespaceObject, circumstances.budget);
  if (match.kind === 'error') return { ...unmatched, matchError: match };
  if (match.kind === 'no') return unmatched;
  const violations = namespaceViolations(policy, namespaceObject, circumstances);
  return { isMatched: true, matchError: undefined, violations };
}

/** Returns the violations of a Namespace that the policy matches. */
export function namespaceViolations(
  policy: CompiledPolicy,
  namespaceObject: KubeObject,
  circumstances: Circumstances,
): readonly Violation[] {
  const review = creationOf('namespaces', namespaceObject, namespaceObject);
  return violationsOf(policy, review, namespaceObject, circumstances);
}

/** Returns the violations of an existing Secret, Role or RoleBinding. Empty if the policy does not match its namespace. */
export function auditObject(
  policy: CompiledPolicy,
  resource: AuditedResource,
  object: KubeObject,
  namespaceObject: KubeObject,
  circumstances: Circumstances,
): readonly Violation[] {
  if (matchNamespace(policy.match, namespaceObject, circumstances.budget).kind !== 'yes') return [];
  const review = creationOf(resource, object, namespaceObject);
  return violationsOf(policy, review, namespaceObject, circumstances);
}

function violationsOf(
  policy: CompiledPolicy,
  review: Review,
  namespaceObject: KubeObject,
  { now, budget, trace }: Circumstances,
): readonly Violation[] {
  const violations: JudgedViolation[] = [];
  const context = {
    review,
    now,
    budget,
    namespaceObject,
    matchesNew: true,
    matchedOld: false,
    hasGrace: false,
    actions: actionsIn(policy, namespaceObject, now),
    countOthers: () => 0,
    // An audit requires only that a defaulted key exists, with any value.
    ownsDefault: () => false,
    trace,
  };
  judge(policy, rulesFor(policy, review).filter(isAuditable), context, violations);
  return causesFirst(withoutConsequences(violations)).map(({ violation }) => violation);
}

/** Returns a review as if the object were created now. */
export function creationOf(
  resource: ReviewedResource,
  object: KubeObject,
  namespaceObject: KubeObject,
): Review {
  return {
    uid: '',
    resource,
    subresource: '',
    operation: 'CREATE',
    name: nameOf(object),
    namespace: nameOf(namespaceObject),
    requester: { username: '', groups: [] },
    dryRun: false,
    // A default that reads the request is not required, because there is no request.
    isOwnWrite: true,
    object,
    attributes: {},
  };
}

// Measures the part of a namespace's write that one policy costs, and says when this is too much.

export interface NamespaceCost {
  readonly name: string;
  readonly units: number;
}

/** Counts match, rules and contents. Without expressions, their cost is so small that it counts as 0. */
export function costIn(
  definition: ProviderDefinition,
  namespaceObject: KubeObject,
  circumstances: Circumstances,
): NamespaceCost {
  const budget = new CountingBudget(circumstances.budget);
  const policy = policyIn(definition)?.compiled;
  if (policy !== undefined && hasExpressions(policy)) {
    const { isMatched } = auditNamespace(policy, namespaceObject, { ...circumstances, budget });
    if (isMatched) for (const content of policy.contents) content.render(namespaceObject, budget);
  }
  return { name: nameOf(namespaceObject), units: budget.units };
}

/** Chooses the higher cost. Equal costs go by name, so that a status does not change with the order of the namespaces. */
export function dearer(a: NamespaceCost | undefined, b: NamespaceCost): NamespaceCost {
  if (a === undefined || a.units < b.units) return b;
  return a.units === b.units && b.name < a.name ? b : a;
}

/** Returns undefined if the policy is cheap everywhere. */
export function dearText(dearest: NamespaceCost | undefined): string | undefined {
  if (dearest === undefined || !isDear(dearest.units)) return undefined;
  return (
    `costs ${unitsText(dearest.units)} in namespace ${dearest.name}, of the ${unitsText(defaultEvaluationUnits)} ` +
    'that all policies together may cost for one request. Make its expressions cheaper'
  );
}

/** Returns the text of `dearText` for a policy that is stored or in a file. */
export function dearTextIn(
  definition: ProviderDefinition,
  namespaces: readonly KubeObject[],
  now: Date,
): string | undefined {
  const costs = namespaces.map((each) => costIn(definition, each, { now, budget: unlimitedBudget }));
  return dearText(costs.reduce<NamespaceCost | undefined>(dearer, undefined));
}

function hasExpressions({ match, contents, rules }: CompiledPolicy): boolean {
  return (
    match.conditions.length > 0 ||
    contents.some(({ isTemplated }) => isTemplated) ||
    rules.namespaces.some(({ traits }) => traits.hasExpressions === true)
  );
}
