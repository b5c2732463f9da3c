// The rights that a write of a policy or share needs when it only removes, or suspends.
import { describe, expect, test } from 'vitest';
import { aSnapshot, providerObject, writeDecision } from '../../../support/engine.ts';

const user = (name: string) => ({ kind: 'User', name });
const binding = (more: object = {}) => ({
  name: 'dev',
  roleRef: { kind: 'ClusterRole', name: 'edit' },
  subjects: [user('al'), user('bo')],
  ...more,
});
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } };
const account = { name: 'default', imagePullSecrets: ['regcred'] };
const contents = { roleBindings: [binding()], resources: [configMap], serviceAccounts: [account] };
const match = {
  names: ['a-*', 'b-*'],
  excludeNames: ['a-x'],
  namespaceSelector: { matchLabels: { tier: 'team' } },
};
const stored = { match, contents, namespaces: { defaults: { labels: { x: 'y' } } } };
const withBindings = (...roleBindings: object[]) => ({ ...stored, contents: { ...contents, roleBindings } });
const withMatch = (more: object) => ({ ...stored, match: { ...match, ...more } });

/** Returns the rights that the author needs, as verb and resource. */
function asked(spec: object, oldSpec: object): readonly string[] {
  const kind = 'source' in spec ? 'SecretShare' : 'NamespacePolicy';
  const [object, oldObject] = [spec, oldSpec].map((each) => providerObject(kind, 'p', each));
  const { rights, violations } = writeDecision({ oldObject, object }, aSnapshot([]));
  expect(violations).toEqual([]);
  return rights.map(({ verb, resource: of, name = '' }) => `${verb} ${of} ${name}`.trim());
}

describe('a write that only removes needs no right', () => {
  test.for<readonly [title: string, spec: object]>([
    ['fewer subjects', withBindings(binding({ subjects: [user('bo')] }))],
    ['fewer RoleBindings', withBindings()],
    ['fewer resources', { ...stored, contents: { ...contents, resources: [] } }],
    ['no fields of ServiceAccounts', { ...stored, contents: { ...contents, serviceAccounts: [] } }],
    ['fewer names', withMatch({ names: ['b-*'] })],
    ['more excluded names', withMatch({ excludeNames: ['b-x', 'a-x'] })],
    [
      'another label in the selector',
      withMatch({ namespaceSelector: { matchLabels: { tier: 'team', env: 'dev' } } }),
    ],
  ])('%s', ([, spec]) => {
    expect(asked(spec, stored)).toEqual([]);
  });
});

describe('a write that adds or changes needs all rights', () => {
  test.for<readonly [title: string, spec: object, oldSpec?: object]>([
    ['another subject', withBindings(binding({ subjects: [user('al'), user('eve')] }))],
    [
      'another pull secret',
      {
        ...stored,
        contents: { ...contents, serviceAccounts: [{ ...account, imagePullSecrets: ['regcred', 'mirror'] }] },
      },
    ],
    ['an expiry that is removed', stored, withBindings(binding({ expiresAfter: '8h' }))],
    ['another name', withMatch({ names: ['a-*', 'c-*'] })],
    ['names that are removed', withMatch({ names: undefined })],
    ['an excluded name less', withMatch({ excludeNames: [] })],
    ['a selector that is removed', withMatch({ namespaceSelector: undefined })],
    [
      'a match condition, which can have an error',
      withMatch({ matchConditions: [{ name: 'c', expression: 'false' }] }),
    ],
    ['a change of the deletionPolicy', { ...stored, deletionPolicy: 'Orphan' }],
    ['a policy that is resumed', stored, { ...stored, suspend: true }],
    [
      'a policy that is suspended and gets another subject',
      { ...withBindings(binding({ subjects: [user('eve')] })), suspend: true },
    ],
  ])('%s', ([, spec, oldSpec = stored]) => {
    expect(asked(spec, oldSpec)).toEqual(
      expect.arrayContaining(['create rolebindings', 'bind clusterroles edit', 'patch namespaces']),
    );
  });
});

test('a suspension needs only the right to hand out the roles, because what exists outlasts it', () => {
  expect(asked({ ...stored, suspend: true }, stored)).toEqual(['bind clusterroles edit']);
});

test('a share needs no right for fewer targets, and the right to read its source for a suspension', () => {
  const share = { source: { namespace: 'reeve-shared', name: 's' }, targets: { names: ['a', 'b'] } };
  expect(asked({ ...share, targets: { names: ['a'] } }, share)).toEqual([]);
  expect(asked({ ...share, suspend: true }, share)).toEqual(['get secrets s']);
  expect(asked({ ...share, targets: { names: ['a', 'c'] } }, share)).toContain('create secrets');
});
