// Creates policies, snapshots and reviews for tests of the engine and of the server.
import { kinds } from '../../src/api/kinds.ts';
import { namespaceNameLabel, systemNamespaces } from '../../src/schema/names.ts';
import { renderProblem } from '../../src/base/problem.ts';
import { unlimitedBudget, type Circumstances } from '../../src/policy/terms/budget.ts';
import { compilePolicy, type CompiledPolicy } from '../../src/policy/compile/compile-policy.ts';
import {
  compileConfigMapShare,
  compileShare,
  type CompiledShare,
} from '../../src/policy/compile/compile-share.ts';
import type { ProviderKind } from '../../src/api/kinds.ts';
import type { KubeObject, ObjectMeta } from '../../src/base/metadata.ts';
import { installOf, type Install } from '../../src/policy/terms/install.ts';
import { decideProvider } from '../../src/policy/authors/decide-provider.ts';
import type { ProviderCircumstances } from '../../src/policy/authors/provider-write.ts';
import type { Decision, ProviderReview, Review } from '../../src/policy/terms/review.ts';
import { type ClusterSnapshot, PolicySet, ShareSet } from '../../src/policy/compile/snapshot.ts';
import { clusterSnapshot } from '../../src/state/file-cluster.ts';

export const circumstances: Circumstances = {
  now: new Date('2026-11-21T12:00:00Z'),
  budget: unlimitedBudget,
};

export const testInstall: Install = installOf({
  namespace: 'reeve-system',
  sharedNamespace: ['reeve-shared'],
  excludeNamespace: [],
  resourceKind: ['v1/ConfigMap', 'v1/ResourceQuota'],
  variable: ['cluster.region=eu'],
});

/** Returns the problems of the schema or of the engine as text. Empty for a valid policy. */
export function problemsOf(
  name: string,
  spec: unknown,
  cluster?: Install['clusterVariables'],
): readonly string[] {
  const parsed = kinds.NamespacePolicy.parse(providerObject('NamespacePolicy', name, spec));
  if (!parsed.ok) return parsed.problems.map(renderProblem);
  const result = compilePolicy(parsed.value, cluster);
  return result.ok ? [] : result.problems.map(renderProblem);
}

export function aPolicy(name: string, spec: unknown, cluster?: Install['clusterVariables']): CompiledPolicy {
  const parsed = kinds.NamespacePolicy.parse(providerObject('NamespacePolicy', name, spec));
  if (!parsed.ok) throw new Error(parsed.problems.map(renderProblem).join('; '));
  const result = compilePolicy(parsed.value, cluster);
  if (!result.ok) throw new Error(result.problems.map(renderProblem).join('; '));
  return result.value;
}

export function aShare(name: string, spec: unknown): CompiledShare {
  const parsed = kinds.SecretShare.parse(providerObject('SecretShare', name, spec));
  if (!parsed.ok) throw new Error(parsed.problems.map(renderProblem).join('; '));
  const result = compileShare(parsed.value);
  if (!result.ok) throw new Error(result.problems.map(renderProblem).join('; '));
  return result.value;
}

export function aConfigMapShare(name: string, spec: unknown): CompiledShare {
  const parsed = kinds.ConfigMapShare.parse(providerObject('ConfigMapShare', name, spec));
  if (!parsed.ok) throw new Error(parsed.problems.map(renderProblem).join('; '));
  const result = compileConfigMapShare(parsed.value);
  if (!result.ok) throw new Error(result.problems.map(renderProblem).join('; '));
  return result.value;
}

export function aSnapshot(
  policies: readonly CompiledPolicy[],
  namespaces: readonly KubeObject[] = [],
  shares: readonly CompiledShare[] = [],
): ClusterSnapshot {
  return clusterSnapshot(
    new PolicySet(policies, { excludedNamespaces: systemNamespaces }),
    new ShareSet(shares),
    namespaces,
  );
}

/** Makes a snapshot like `aSnapshot`, from the specs of policies by name. */
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

/** Returns a Namespace with the label that the API server gives every Namespace. */
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

/** Returns the review that the API server sends for a write of a policy or share. */
export function aProviderReview(
  fields: Partial<ProviderReview> & Pick<ProviderReview, 'resource'>,
): ProviderReview {
  const { object, oldObject } = fields;
  const operation = object === undefined ? 'DELETE' : oldObject === undefined ? 'CREATE' : 'UPDATE';
  return {
    uid: 'uid',
    subresource: '',
    operation,
    name: (object ?? oldObject)?.metadata.name ?? '',
    namespace: '',
    requester: { username: 'alice', groups: [] },
    dryRun: false,
    attributes: { operation },
    ...fields,
  };
}

/** Returns the policy or share as the API server stores it. */
export function providerObject(
  kind: ProviderKind,
  name: string,
  spec: unknown,
  metadata: ObjectMeta = {},
): KubeObject {
  return { apiVersion: 'reeve.dev/v1alpha1', kind, metadata: { name, ...metadata }, spec };
}

/** The stored version and the new one. Without a new one, the write is a deletion. */
interface ProviderWrite {
  readonly oldObject?: KubeObject | undefined;
  readonly object?: KubeObject | undefined;
}

/** Decides a write of a policy, a share or a binding by the test install. */
export function writeDecision(
  { oldObject, object }: ProviderWrite,
  snapshot: ClusterSnapshot,
  changes: Partial<ProviderCircumstances> = {},
): Decision {
  const { kind, metadata } = object ?? oldObject ?? { metadata: {} };
  const review = aProviderReview({
    resource: kinds[kind as ProviderKind].plural,
    namespace: metadata.namespace ?? '',
    ...(object === undefined ? {} : { object }),
    ...(oldObject === undefined ? {} : { oldObject }),
  });
  return providerDecision(review, snapshot, { ...circumstances, install: testInstall, ...changes });
}

/** Decides a write of a policy or share without a pause between its steps. */
export function providerDecision(
  review: ProviderReview,
  snapshot: ClusterSnapshot,
  given: ProviderCircumstances,
): Decision {
  const steps = decideProvider(review, snapshot, given);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
