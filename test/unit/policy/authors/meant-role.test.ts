import { expect, test } from 'vitest';
import { meantRole } from '../../../../src/policy/authors/no-effect.ts';
import {
  aProviderReview,
  aPolicy,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerObject,
  testInstall,
  providerDecision,
  writeDecision,
} from '../../../support/engine.ts';

const binding = (role: string) => ({
  match: { names: ['a'] },
  contents: {
    roleBindings: [
      { name: role, roleRef: { kind: 'ClusterRole', name: role }, subjects: [{ kind: 'User', name: 'ann' }] },
    ],
  },
});
const snapshot = aSnapshot(
  ['release-manager', 'team-a', 'reader1', 'dev'].map((role) => aPolicy(`binds-${role}`, binding(role))),
  [knownNamespace('a')],
);

test.for([
  ['eddit', 'edit'],
  ['veiw', 'view'],
  ['View', 'view'],
  ['admins', 'admin'],
  ['cluster-amdin', 'cluster-admin'],
  ['relase-manager', 'release-manager'],
  ['release-manger', 'release-manager'],
  ['edit', undefined],
  ['release-manager', undefined],
  ['viewer', undefined],
  ['audit', undefined],
  ['team-b', undefined],
  ['reader2', undefined],
  ['dba', undefined],
  ['operator', undefined],
] as const)('the ClusterRole that was meant by %s is %s', ([name, meant]) => {
  expect(meantRole(name, 'NamespacePolicy/p', snapshot)).toBe(meant);
});

test('a policy is not compared with its own stored version', () => {
  expect(meantRole('team-bb', 'NamespacePolicy/binds-team-a', snapshot)).toBeUndefined();
  expect(meantRole('release-manage', 'NamespacePolicy/binds-release-manager', snapshot)).toBeUndefined();
});

function warnings(before: string | undefined, after: string): readonly string[] {
  const policy = (role: string) => providerObject('NamespacePolicy', 'p', binding(role));
  const oldObject = before === undefined ? undefined : policy(before);
  const { notices } = writeDecision({ oldObject, object: policy(after) }, snapshot);
  return notices.filter((notice) => notice.includes('did you mean'));
}

test('the write of a policy warns of a ClusterRole that resembles a known one, once', () => {
  const warning =
    'NamespacePolicy/p binds ClusterRole eddit, which no other policy binds; did you mean edit?';
  expect(warnings(undefined, 'eddit')).toEqual([warning]);
  expect(warnings('edit', 'eddit')).toEqual([warning]);
  expect(warnings('eddit', 'edit')).toEqual([]);
  expect(warnings(undefined, 'operator')).toEqual([]);
});

test('a later write of the same ClusterRole does not warn again', () => {
  const spec = binding('eddit');
  const review = aProviderReview({
    resource: 'namespacepolicies',
    oldObject: providerObject('NamespacePolicy', 'p', spec),
    object: providerObject('NamespacePolicy', 'p', { ...spec, maxDeletions: 7 }),
  });
  const { notices } = providerDecision(review, snapshot, { ...circumstances, install: testInstall });
  expect(notices).toEqual([]);
});
