// A run that tested less than it could have says so.
import { expect, test } from 'vitest';
import { rigNotice } from '../../node/support/rig-setup.ts';
import { clusterNotice } from '../../support/control-plane.ts';

const running = { kind: 'running', planes: [] } as const;

test.for([
  ['nothing when the tests of a cluster were not asked for', undefined, undefined],
  ['nothing when all is there', { ...running, hasControllers: true }, undefined],
  [
    'that there was no cluster',
    { kind: 'none', reason: 'no Go' },
    /^NOT TESTED ON A CLUSTER: .* because no Go$/,
  ],
  ['that controllers were missing', { ...running, hasControllers: false }, /^NOT ALL TESTED ON A CLUSTER: /],
] as const)('it says %s', ([, cluster, expected]) => {
  const notice = clusterNotice(cluster);
  if (expected === undefined) expect(notice).toBeUndefined();
  else expect(notice).toMatch(expected);
});

test('it says why the tests on nodes were skipped', () => {
  expect(rigNotice({ kind: 'none', reason: 'a node needs Linux' })).toBe(
    'NOT TESTED ON NODES: the tests with Reeve in Pods were skipped, because a node needs Linux',
  );
  expect(rigNotice({ kind: 'running', folder: '/x' })).toBeUndefined();
});
