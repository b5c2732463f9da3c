import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/kube-object.ts';
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
  const cluster = new LiveCluster({ excludedNamespaces: ['kube-system'] });
  cluster.policies.replaced(policies, '1');
  cluster.shares.replaced(shares, '1');
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
    expect([claims.size, [...(expired.get('NamespacePolicy/p') ?? [])], nextExpiry]).toEqual([
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

  test('an error freezes the objects of its provider, and a missing value does not', () => {
    const failing = policy('p', {}, { name: '${string(1 / (size(namespaceObject.metadata.name) - 1))}' });
    const lacking = policy('q', {}, { name: "${namespaceObject.metadata.labels['x']}" });
    const { claims, frozen } = desiredIn(a, [failing, lacking]);
    expect(claims.size).toBe(0);
    expect([...frozen].map(([owner, { reason }]) => [owner, reason])).toEqual([
      ['NamespacePolicy/p', 'RenderFailed'],
    ]);
  });

  test('a name that occurs twice in a policy counts once', () => {
    const twice = {
      ...bindingPolicy(),
      contents: {
        roleBindings: ['x', '${"x"}'].map((name) => ({
          name,
          roleRef: { kind: 'ClusterRole', name: 'edit' },
          subjects: [{ kind: 'User', name: 'u' }],
        })),
      },
    };
    expect(providersOf(desiredIn(a, [stored('NamespacePolicy', 'p', twice)]))).toEqual({
      'rbac.authorization.k8s.io/RoleBinding/x': ['NamespacePolicy/p'],
    });
  });

  test('a share wants no copy in the namespace of its source', () => {
    const share = stored('SecretShare', 's', shareOf({ source: { namespace: 'a', name: 'regcred' } }));
    expect(providersOf(desiredIn(a, [], [share]))).toEqual({});
  });
});
