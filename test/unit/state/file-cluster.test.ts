// Namespaces by name, also where an object has that name by nature.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { PolicySet, noShares } from '../../../src/policy/compile/snapshot.ts';
import { clusterSnapshot } from '../../../src/state/file-cluster.ts';

const policies = new PolicySet([], { excludedNamespaces: [] });
const named = (name: string): KubeObject => ({ metadata: { name } });

test('namespaces are found by name, also by names that JavaScript objects inherit', () => {
  const known = ['team-a', 'constructor'].map(named);
  const snapshot = clusterSnapshot(policies, noShares, known);
  expect(snapshot.policies).toBe(policies);
  expect(snapshot.namespace('constructor')).toBe(known[1]);
  expect(snapshot.namespace('toString')).toBeUndefined();
  expect([...snapshot.namespaces()]).toEqual(known);
  // Quotas count them again for every review.
  expect([...snapshot.namespaces()]).toHaveLength(2);
});
