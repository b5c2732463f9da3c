// Short ways to policies, snapshots and reviews for tests of the engine and of the server.
import { parseNamespacePolicy } from '../../src/api/namespace-policy.ts';
import { namespaceNameLabel, systemNamespaces } from '../../src/api/names.ts';
import { renderProblem } from '../../src/api/problem.ts';
import { unlimitedBudget, type Circumstances } from '../../src/policy/budget.ts';
import { compilePolicy } from '../../src/policy/compile-policy.ts';
import type { CompiledPolicy } from '../../src/policy/compiled-policy.ts';
import { noShares } from '../../src/policy/share-set.ts';
import { PolicySet } from '../../src/policy/policy-set.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/kube-object.ts';
import type { Review } from '../../src/policy/review.ts';
import type { ClusterSnapshot } from '../../src/policy/snapshot.ts';
import { clusterSnapshot } from '../../src/state/cluster-snapshot.ts';

export const circumstances: Circumstances = {
  now: new Date('2026-11-21T12:00:00Z'),
  budget: unlimitedBudget,
};

/** The problems of the schema or of the engine, as text; nothing when the policy is fine. */
export function problemsOf(name: string, spec: unknown): readonly string[] {
  const parsed = parseNamespacePolicy(policyObject(name, spec));
  if (!parsed.ok) return parsed.problems.map(renderProblem);
  const result = compilePolicy(parsed.policy);
  return result.ok ? [] : result.problems.map(renderProblem);
}

export function aPolicy(name: string, spec: unknown): CompiledPolicy {
  const parsed = parseNamespacePolicy(policyObject(name, spec));
  if (!parsed.ok) throw new Error(parsed.problems.map(renderProblem).join('; '));
  const result = compilePolicy(parsed.policy);
  if (!result.ok) throw new Error(result.problems.map(renderProblem).join('; '));
  return result.compiled;
}

export function aSnapshot(
  policies: readonly CompiledPolicy[],
  namespaces: readonly KubeObject[] = [],
): ClusterSnapshot {
  return clusterSnapshot(
    new PolicySet(policies, { excludedNamespaces: systemNamespaces }),
    noShares,
    namespaces,
  );
}

/** As `aSnapshot`, from the specs of policies by name. */
export function snapshotOf(
  specs: Readonly<Record<string, unknown>>,
  namespaces: readonly KubeObject[] = [],
): ClusterSnapshot {
  return aSnapshot(
    Object.entries(specs).map(([name, spec]) => aPolicy(name, spec)),
    namespaces,
  );
}

export function aNamespace(metadata: ObjectMeta): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata };
}

/** With the label that the API server gives every Namespace. */
export function knownNamespace(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return aNamespace({ name, labels: { [namespaceNameLabel]: name, ...labels } });
}

export function aReview(
  fields: Partial<Review> & { readonly user?: string; readonly groups?: readonly string[] },
): Review {
  const { user = 'alice', groups = [], ...rest } = fields;
  const object = rest.object ?? rest.oldObject;
  const name = object?.metadata.name ?? '';
  const operation = rest.operation ?? (rest.oldObject === undefined ? 'CREATE' : 'UPDATE');
  return {
    uid: 'uid',
    resource: 'namespaces',
    subresource: '',
    operation,
    name,
    namespace: rest.resource === undefined || rest.resource === 'namespaces' ? name : 'ns',
    requester: { username: user, groups },
    dryRun: false,
    attributes: { operation, name, dryRun: false, userInfo: { username: user, groups } },
    ...rest,
  };
}

function policyObject(name: string, spec: unknown): unknown {
  return { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata: { name }, spec };
}
