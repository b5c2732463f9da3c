import { anyInstall } from '../../../../src/policy/terms/install.ts';
import { describe, expect, test } from 'vitest';
import { roleBindingType } from '../../../../src/base/object-type.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { desired, type Desired } from '../../../../src/policy/desired/desired.ts';
import { LiveCluster } from '../../../../src/state/live-cluster.ts';
import { knownNamespace } from '../../../support/engine.ts';
import { bindingPolicy, shareOf, team } from '../../../support/provided.ts';

const now = new Date('2026-11-21T12:00:00Z');

function stored(kind: string, name: string, spec: object, metadata: object = {}): KubeObject {
  const uid = `uid-${name}`;
  return {
    apiVersion: 'reeve.dev/v1alpha1',
    kind,
    metadata: { name, uid, resourceVersion: '1', ...metadata },
    spec,
  };
}

function desiredIn(
  namespaceObject: KubeObject,
  policies: readonly KubeObject[],
  shares: readonly KubeObject[] = [],
): Desired {
  const cluster = new LiveCluster({ install: anyInstall });
  cluster.sinks.NamespacePolicy.replaced(policies, '1');
  cluster.sinks.SecretShare.replaced(shares, '1');
  cluster.namespaces.replaced([namespaceObject], '1');
  return desired(namespaceObject, cluster.snapshot(), now);
}

const policy = (name: string, fields: object = {}, binding: object = {}) =>
  stored('NamespacePolicy', name, bindingPolicy(fields, binding));
const providersOf = ({ claims }: Desired) =>
  Object.fromEntries([...claims].map(([key, all]) => [key, all.map(({ provider }) => provider)]));
const binding = 'rbac.authorization.k8s.io/RoleBinding/devs';

describe('what a namespace is to contain', () => {
  const a = knownNamespace('a', team);

  test('the desired objects are those of policies by name, then those of shares by name', () => {
    const copies = (name: string) => stored('SecretShare', name, shareOf());
    expect(providersOf(desiredIn(a, [policy('q'), policy('p')], [copies('z'), copies('b')]))).toEqual({
      [binding]: ['NamespacePolicy/p', 'NamespacePolicy/q'],
      '/Secret/regcred': ['SecretShare/b', 'SecretShare/z'],
    });
  });

  test.each<readonly [string, KubeObject]>([
    ['excluded', knownNamespace('kube-system', team)],
    ['on its way out', { ...a, metadata: { ...a.metadata, deletionTimestamp: '2026-11-21T11:00:00Z' } }],
    ['not matched', knownNamespace('a', {})],
  ])('a namespace that is %s has no desired objects', (_what, namespaceObject) => {
    const { claims, frozen, providers } = desiredIn(namespaceObject, [policy('p')]);
    expect([claims.size, frozen.size, providers]).toEqual([0, 0, []]);
  });

  test.each<readonly [string, KubeObject]>([
    [
      'is being deleted',
      stored('NamespacePolicy', 'p', bindingPolicy(), { deletionTimestamp: '2026-11-21T11:00:00Z' }),
    ],
    ['does not load', stored('NamespacePolicy', 'p', { nonsense: 1 })],
  ])('a policy that %s provides no desired objects', (_what, object) => {
    expect(providersOf(desiredIn(a, [object]))).toEqual({});
  });

  test('an expired object is not desired, and is recorded as expired', () => {
    const late = policy('p', {}, { expiresAt: '2026-11-21T12:00:00Z' });
    const { claims, expired, nextExpiry } = desiredIn(a, [late]);
    expect([claims.size, [...(expired.get('NamespacePolicy/p')?.keys() ?? [])], nextExpiry]).toEqual([
      0,
      [binding],
      undefined,
    ]);
  });

  test('the time of the next expiry is known', () => {
    const created = { ...a, metadata: { ...a.metadata, creationTimestamp: '2026-11-21T11:00:00Z' } };
    const policies = [
      policy('p', {}, { expiresAfter: '8h' }),
      policy('q', {}, { name: 'x', expiresAt: '2026-11-21T15:00:00Z' }),
    ];
    expect(desiredIn(created, policies).nextExpiry).toBe(Date.parse('2026-11-21T15:00:00Z'));
  });

  test.each([
    ['${string(1 / (size(namespaceObject.metadata.name) - 1))}', 'has an error: division by zero'],
    ['${namespaceObject.metadata.name.split(",")[1]}', 'has an error: the list has no such index'],
    ['${string(int(namespaceObject.metadata.name))}', 'has an error: '],
    [
      '${namespaceObject.metadata.annotations.map(k, k)[0]}',
      'has an error: the namespace has no annotations',
    ],
    ['${"a/b"}', 'is "a/b"; accepted: a name '],
  ])('a template %s that fails freezes the objects of its provider', (name, message) => {
    const { claims, frozen, skipped } = desiredIn(a, [policy('p', {}, { name })]);
    expect([claims.size, skipped]).toEqual([0, []]);
    expect([...frozen]).toEqual([
      [
        'NamespacePolicy/p',
        {
          reason: 'RenderFailed',
          message: expect.stringContaining(`: name ${message}`) as string,
        },
      ],
    ]);
  });

  test.each([
    ["${namespaceObject.metadata.labels['x']}", 'label x is missing'],
    ['${namespaceObject.metadata.annotations.x.split(",")[1]}', 'annotation x is missing'],
    ["${namespaceObject.metadata.annotations['ad/view']}", 'annotation ad/view is missing'],
  ])('a content whose template %s needs a missing label or annotation is skipped', (user, message) => {
    const lacking = policy('q', {}, { name: 'viewers', subjects: [{ kind: 'User', name: user }] });
    const { claims, frozen, skipped } = desiredIn(a, [lacking]);
    expect([claims.size, frozen.size]).toEqual([0, 0]);
    expect(skipped).toEqual([
      { provider: 'NamespacePolicy/q', type: roleBindingType, name: 'viewers', message },
    ]);
  });

  test('a skipped content has its rendered name, or its template when a label for the name is missing', () => {
    const user = "${namespaceObject.metadata.labels['x']}";
    const skippedName = (name: string) =>
      desiredIn(a, [policy('q', {}, { name, subjects: [{ kind: 'User', name: user }] })]).skipped[0]?.name;
    expect(skippedName('ad-${namespaceObject.metadata.name}')).toBe('ad-a');
    expect(skippedName(`ad-${user}`)).toBe(`ad-${user}`);
  });

  const twice = (...users: readonly [string, string]): Desired => {
    const roleBindings = ['x', '${"x"}'].map((name, index) => ({
      name,
      roleRef: { kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'User', name: users[index] }],
    }));
    return desiredIn(a, [stored('NamespacePolicy', 'p', { ...bindingPolicy(), contents: { roleBindings } })]);
  };

  test('two contents of a policy that give the same object count once', () => {
    expect(providersOf(twice('u', 'u'))).toEqual({
      'rbac.authorization.k8s.io/RoleBinding/x': ['NamespacePolicy/p'],
    });
    expect(twice('u', 'u').frozen.size).toBe(0);
  });

  test('two contents of a policy that give different objects of one name freeze the policy', () => {
    expect(twice('u', 'v').frozen.get('NamespacePolicy/p')).toEqual({
      reason: 'RenderFailed',
      message:
        'RoleBinding x: two contents of this policy give different objects of this name; rename one of them',
    });
  });

  test('a share wants no copy in the namespace of its source', () => {
    const share = stored('SecretShare', 's', shareOf({ source: { namespace: 'a', name: 'regcred' } }));
    expect(providersOf(desiredIn(a, [], [share]))).toEqual({});
  });
});
