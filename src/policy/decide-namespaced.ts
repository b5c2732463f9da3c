// Decides a write of a Secret, Role or RoleBinding by the policies that match its namespace.
import type { Circumstances } from './budget.ts';
import type { CompiledPolicy } from './compiled-policy.ts';
import { isExcepted } from './exceptions.ts';
import { judge, matchErrorFinding } from './judge.ts';
import { matchNamespace } from './match.ts';
import type { Review } from './review.ts';
import type { Rule } from './rule.ts';
import { helmReleaseType } from './rules/secret-types.ts';
import { secretType } from './rules/secret-values.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { nothingToDecide, type Decision, type Finding } from './verdict.ts';

export function decideNamespaced(
  review: Review,
  snapshot: ClusterSnapshot,
  { now, budget }: Circumstances,
): Decision {
  const namespaceObject = snapshot.namespace(review.namespace);
  if (review.operation === 'DELETE' || namespaceObject === undefined) return nothingToDecide;
  const findings: Finding[] = [];
  const policies: CompiledPolicy[] = [];
  for (const policy of snapshot.policies.candidates(review.resource, [namespaceObject])) {
    if (budget.isSpent()) return { findings, rights: [], policies: namesOf(policies), overBudget: true };
    const rules = rulesFor(policy, review);
    if (rules.length === 0) continue;
    const matches = matchNamespace(policy.match, namespaceObject);
    if (matches.kind === 'error') findings.push(matchErrorFinding(policy, matches));
    if (matches.kind !== 'yes') continue;
    policies.push(policy);
    const context = {
      review,
      snapshot,
      now,
      namespaceObject,
      matchesNew: true,
      matchedOld: review.oldObject !== undefined,
      actions: policy.actions,
      isMatched: () => false,
      ownsDefault: (field: string, key: string) =>
        ownerOf(policies, field, key, review.namespace, now) === policy,
    };
    const judgement = judge(policy, rules, context, review.namespace, budget);
    findings.push(...judgement.findings);
    if (judgement.overBudget) return { findings, rights: [], policies: namesOf(policies), overBudget: true };
  }
  return { findings, rights: [], policies: namesOf(policies), overBudget: false };
}

export function rulesFor(policy: CompiledPolicy, { resource, object }: Review): readonly Rule[] {
  switch (resource) {
    case 'secrets': {
      const isHelmRelease = object !== undefined && secretType(object) === helmReleaseType;
      return isHelmRelease && !policy.judgesHelmReleases ? [] : policy.secretRules;
    }
    case 'roles':
      return policy.roleRules;
    case 'rolebindings':
      return policy.roleBindingRules;
    case 'namespaces':
      return policy.namespaceRules;
    default:
      return resource satisfies never;
  }
}

/** The policies come by name, so the first that sets a default for the key is among those seen already. */
function ownerOf(
  policies: readonly CompiledPolicy[],
  field: string,
  key: string,
  namespace: string,
  now: Date,
): CompiledPolicy | undefined {
  return policies.find(
    ({ secretDefaults, exceptions }) =>
      !isExcepted(exceptions, 'secrets.defaults', namespace, now) &&
      secretDefaults.some((key_) => key_.field === field && key_.key === key),
  );
}

function namesOf(policies: readonly CompiledPolicy[]): readonly string[] {
  return policies.map(({ name }) => name);
}
