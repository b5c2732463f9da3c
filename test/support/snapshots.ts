// Makes the engine's view of a cluster from policies and namespaces written as plain objects.
import { systemNamespaces } from '../../src/api/names.ts';
import { parseNamespacePolicy } from '../../src/api/namespace-policy.ts';
import { compilePolicy } from '../../src/policy/compile-policy.ts';
import type { CompiledPolicy } from '../../src/policy/compiled-policy.ts';
import { PolicySet } from '../../src/policy/policy-set.ts';
import type { KubeObject } from '../../src/policy/review.ts';
import type { ClusterSnapshot } from '../../src/policy/snapshot.ts';
import { clusterSnapshot } from '../../src/state/cluster-snapshot.ts';

export type Specs = Readonly<Record<string, unknown>>;

export function snapshotOf(specs: Specs, namespaces: readonly KubeObject[] = []): ClusterSnapshot {
  const policies = Object.entries(specs).map(([name, spec]) => compiledPolicy(name, spec));
  return clusterSnapshot(
    new PolicySet(policies, { excludedNamespaces: systemNamespaces }),
    namespaces,
  );
}

function compiledPolicy(name: string, spec: unknown): CompiledPolicy {
  const parsed = parseNamespacePolicy({
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'NamespacePolicy',
    metadata: { name },
    spec,
  });
  if (!parsed.ok) throw new Error(`policy ${name}: ${JSON.stringify(parsed.problems)}`);
  const compilation = compilePolicy(parsed.policy);
  if (!compilation.ok) throw new Error(`policy ${name}: ${JSON.stringify(compilation.problems)}`);
  return compilation.compiled;
}

export function knownNamespace(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name, ...labels } },
  };
}
