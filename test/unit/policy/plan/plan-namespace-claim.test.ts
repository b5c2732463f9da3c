// Tests how much of a claim Reeve keeps in memory, and how large a claim may be.
import { expect, test } from 'vitest';
import { kinds } from '../../../../src/api/kinds.ts';
import { neededOf } from '../../../../src/policy/plan/plan-namespace-claim.ts';

const spec = { name: 'shop-dev', policy: 'teams' };

test('what a tenant writes into the metadata of a claim is not kept, apart from the confirmation', () => {
  const kept = { name: 'dev', namespace: 'team-shop', uid: 'u', resourceVersion: '1', finalizers: ['a'] };
  const annotations = { 'reeve.dev/confirm-deletions': 'shop-dev' };
  const more = { labels: { a: 'b' }, managedFields: [{}], annotations: { ...annotations, big: 'x' } };
  const status = { namespaceUID: 'n' };
  expect(neededOf({ metadata: { ...kept, ...more }, spec, status })).toEqual({
    metadata: { ...kept, annotations },
    spec,
    status,
  });
  expect(neededOf({ metadata: { ...kept, annotations: { big: 'x' } }, spec }).metadata).toEqual(kept);
});

test.for([
  [7, 0],
  [9, 1],
] as const)('%i annotations of 2,000 bytes have %i problems', ([length, count]) => {
  const keys = Array.from({ length }, (_, index) => [`note-${index}`, 'x'.repeat(2000)]);
  const parsed = kinds.NamespaceClaim.parse({
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'NamespaceClaim',
    metadata: { name: 'dev', namespace: 'team-shop' },
    spec: { ...spec, annotations: Object.fromEntries(keys) as object },
  });
  expect(parsed.ok ? 0 : parsed.problems.length).toBe(count);
});
