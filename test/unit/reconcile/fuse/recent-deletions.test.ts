import { expect, test } from 'vitest';
import { RecentDeletions } from '../../../../src/reconcile/fuse/fuse.ts';

test('the deletions of the last minute are counted for each provider', () => {
  let now = 0;
  const recent = new RecentDeletions({ monotonic: () => now });
  recent.add('NamespacePolicy/p');
  now = 10_000;
  recent.add('NamespacePolicy/p');
  recent.add('SecretShare/p');
  expect([
    recent.count('NamespacePolicy/p'),
    recent.count('SecretShare/p'),
    recent.count('SecretShare/q'),
  ]).toEqual([2, 1, 0]);
  expect(recent.nextLapse('NamespacePolicy/p')).toBe(50_000);
  now = 60_000;
  expect(recent.count('NamespacePolicy/p')).toBe(1);
  now = 70_000;
  expect(recent.count('NamespacePolicy/p')).toBe(0);
  expect(recent.nextLapse('NamespacePolicy/p')).toBeUndefined();
});
