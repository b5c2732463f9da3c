// A tenant's binding holds in its own namespace alone, and takes nothing from policies and bindings of the cluster.
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { managedByLabel, ownerAnnotation, systemNamespaces } from '../../../../src/schema/names.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { ClusterSnapshot } from '../../../../src/policy/compile/snapshot.ts';
import { decide } from '../../../../src/policy/decide/decide.ts';
import { settle, refusalMessage } from '../../../../src/policy/decide/settle.ts';
import { desired } from '../../../../src/policy/desired/desired.ts';
import type { IntentAdapter } from '../../../../src/policy/intents/adapter.ts';
import { observeObject, type Observed } from '../../../../src/policy/plan/observed.ts';
import { ownersOf, planNamespace } from '../../../../src/policy/plan/plan.ts';
import { keyRepairs } from '../../../../src/policy/plan/repair.ts';
import type { ProviderId, ProviderState } from '../../../../src/policy/terms/provider-id.ts';
import {
  aPolicy,
  aReview,
  aSnapshot,
  circumstances,
  knownNamespace,
  testInstall,
} from '../../../support/engine.ts';
import { clusterBinding, definitionOf, intentContext, tenantBinding } from '../../../support/intents.ts';
import { defaultProviderState } from '../../../support/owner-state.ts';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };

/** Gives one object with other data for a tenant, and one label with another value for a tenant. */
const engine: IntentAdapter = {
  id: 'engine',
  needs: [],
  provides: [configMap],
  supports: () => true,
  render: ({ id, name }, { isClusterWide }) => {
    const scope = isClusterWide ? 'cluster' : 'tenant';
    return id === 'escapeToHost'
      ? { namespaces: { defaults: { labels: { level: scope } } } }
      : { resources: [{ ...configMap, metadata: { name }, data: id === 'exploitPFA' ? { scope } : {} }] };
  },
};
const context = intentContext(
  { differs: { id: 'exploitPFA' }, same: { id: 'swDeploymentTools' }, level: { id: 'escapeToHost' } },
  { adapters: [engine] },
);

const tenantsId = 'SecurityIntentBinding/shop/a';
const clustersId = 'ClusterSecurityIntentBinding/z';
const policysId = 'NamespacePolicy/z';

type Situation = 'loaded' | 'suspended' | 'invalid' | 'deleting' | 'absent';

function snapshotOf(cluster: Situation, intent: string, namespace = 'shop'): ClusterSnapshot {
  const isSuspended = cluster === 'suspended';
  const ofCluster = definitionOf(
    clusterBinding('z', { intents: [intent], suspend: isSuspended }),
    context,
  ).compiled;
  const ofTenant = definitionOf(tenantBinding(namespace, 'a', { intents: [intent] }), context).compiled;
  const state = (id: ProviderId, changes: Partial<ProviderState> = {}) =>
    [id, { ...defaultProviderState, id, ...changes }] as const;
  const inForce = cluster === 'absent' ? [ofTenant] : [ofTenant, ofCluster];
  return {
    ...aSnapshot(inForce, [knownNamespace('shop'), knownNamespace('cart')]),
    providers: new Map([
      state(tenantsId),
      ...(cluster === 'absent'
        ? []
        : [
            state(clustersId, {
              isSuspended,
              isValid: cluster !== 'invalid',
              isDeleting: cluster === 'deleting',
            }),
          ]),
    ]),
  };
}

function liveObject(
  owner: ProviderId | undefined,
  name: string,
  scope?: string,
  metadata: object = {},
): Observed {
  const marks =
    owner === undefined
      ? {}
      : { labels: { [managedByLabel]: 'reeve' }, annotations: { [ownerAnnotation]: owner } };
  const data = scope === undefined ? {} : { scope };
  return observeObject(configMap, {
    ...configMap,
    metadata: { name, namespace: 'shop', uid: 'u', resourceVersion: '1', ...marks, ...metadata },
    data,
  });
}

function planOf(snapshot: ClusterSnapshot, live: Observed | undefined): readonly string[] {
  const namespaceObject = knownNamespace('shop');
  const { steps, results, followers } = planNamespace({
    namespaceObject,
    snapshot,
    desired: desired(namespaceObject, snapshot, circumstances.now),
    ours: live?.owner === undefined ? [] : [live],
    liveOf: (key) => (live?.key === key ? live : undefined),
    accounts: undefined,
    copyStateOf: () => ({ kind: 'unread' }),
    fuseOf: () => ({ kind: 'delete' }),
    scopeOf: () => 'allowed',
    now: circumstances.now,
  });
  return [
    ...steps.map((step) => `${step.kind} for ${ownersOf(step).join()}`),
    ...results.map(({ provider, state, reason }) => `${state} ${reason} for ${provider}`),
    ...followers.map(({ provider, owner }) => `${provider} follows ${owner}`),
  ];
}

const loses = `conflict ProvidedByAnother for ${tenantsId}`;

describe('an object that a binding of the cluster and a tenant both want, in different forms', () => {
  test.for<readonly [string, Situation, ProviderId | undefined, readonly string[]]>([
    ['is created for the cluster', 'loaded', undefined, [`create for ${clustersId}`, loses]],
    ['stays with the cluster', 'loaded', clustersId, [`update for ${clustersId}`, loses]],
    ['is taken back from the tenant', 'loaded', tenantsId, [`update for ${clustersId}`, loses]],
    [
      'stays with a suspended binding',
      'suspended',
      clustersId,
      [`failed Suspended for ${clustersId}`, loses],
    ],
    [
      'stays with a binding that does not load',
      'invalid',
      clustersId,
      [`conflict OwnedByAnother for ${tenantsId}`],
    ],
    [
      'goes to the tenant once the binding is being deleted',
      'deleting',
      clustersId,
      [`update for ${tenantsId}`],
    ],
    [
      'stays with the tenant where no binding of the cluster wants it',
      'absent',
      tenantsId,
      [`update for ${tenantsId}`],
    ],
  ])('%s', ([, situation, owner, plan]) => {
    const live = owner === undefined ? undefined : liveObject(owner, 'differs', 'tenant');
    expect(planOf(snapshotOf(situation, 'differs'), live)).toEqual(plan);
  });

  it('an object that both want in different forms is left alone where a stranger has it, or left it behind for the cluster', () => {
    const orphan = {
      labels: { 'reeve.dev/orphaned-from': 'z' },
      annotations: { 'reeve.dev/orphaned-from': clustersId },
    };
    for (const metadata of [{}, orphan])
      expect(
        planOf(snapshotOf('absent', 'differs'), liveObject(undefined, 'differs', 'x', metadata)),
      ).toEqual([`conflict AlreadyExists for ${tenantsId}`]);
  });
});

describe('an object that both want in the same form', () => {
  it('an object that both want in the same form belongs to the binding of the cluster, and the tenant follows', () => {
    expect(planOf(snapshotOf('loaded', 'same'), undefined)).toEqual([
      `create for ${clustersId}`,
      `${tenantsId} follows ${clustersId}`,
    ]);
  });

  it('an object that both want in the same form is not deleted when either of them goes', () => {
    for (const owner of [clustersId, tenantsId] as const)
      for (const situation of ['deleting', 'absent'] as const)
        expect(planOf(snapshotOf(situation, 'same'), liveObject(owner, 'same'))).not.toContain(
          `delete for ${owner}`,
        );
  });
});

const policy = aPolicy('z', { namespaces: { defaults: { labels: { level: 'policy' } } } });
const bindings = snapshotOf('loaded', 'level').policies.policies;
const tenant = bindings.filter(({ id }) => id === tenantsId);

test.for([
  [[...bindings, policy], 'policy'],
  [bindings, 'cluster'],
  [tenant, 'tenant'],
] as const)('%#: the first kind sets it', ([policies, level]) => {
  const { policies: set } = aSnapshot(policies);
  expect(
    keyRepairs(
      { policies: set.policies, repairs: () => true, install: testInstall },
      knownNamespace('shop'),
      circumstances,
    )?.labels.get('level'),
  ).toBe(level);
});

it('a tenant matches the own namespace alone, and never one that the install excludes', () => {
  const name = fc.constantFrom('shop', 'cart', 'shop-a', 'a', 'sho', ...systemNamespaces);
  fc.assert(
    fc.property(name, name, (own, other) => {
      const { compiled } = definitionOf(tenantBinding(own, 'a', { intents: ['same', 'level'] }), context);
      const snapshot = aSnapshot([compiled], [knownNamespace(other)]);
      const mayHold = own === other && !systemNamespaces.includes(own);
      const { claims } = desired(knownNamespace(other), snapshot, circumstances.now);
      expect(claims.size).toBe(mayHold ? 1 : 0);
      const review = aReview({ object: knownNamespace(other) });
      // The label that the binding defaults is demanded of its own namespace, and of no other.
      expect(decide(review, snapshot, circumstances).violations).toHaveLength(mayHold ? 1 : 0);
    }),
  );
});

it('an administrator who weakens the Pod Security label that a tenant keeps reads the name of the binding', () => {
  const key = 'pod-security.kubernetes.io/enforce';
  const offered = intentContext({ strict: { id: 'escapeToHost' } }, { offered: ['pod-security'] });
  const { compiled } = definitionOf(tenantBinding('shop', 'strict', { intents: ['strict'] }), offered);
  const review = aReview({
    user: 'admin',
    groups: ['system:masters'],
    object: knownNamespace('shop', { [key]: 'privileged' }),
    oldObject: knownNamespace('shop', { [key]: 'baseline' }),
  });
  const decision = decide(review, aSnapshot([compiled], [knownNamespace('shop')]), circumstances);
  expect(refusalMessage(settle(decision, new Map(), review), review)).toBe(
    `Namespace shop is refused: SecurityIntentBinding shop/strict, namespaces.required: metadata.labels["${key}"]: ` +
      'found "privileged"; accepted: "baseline" or "restricted"',
  );
});

it('a namespace of another form is refused in a binding', () => {
  for (const namespace of ['*', 'a*', 'a/b', 'A', '', 'a.b'])
    expect(() => definitionOf(tenantBinding(namespace, 'a', { intents: ['same'] }), context)).toThrow(
      'namespace',
    );
});

it('no write of a Namespace needs a right on the binding of a tenant', () => {
  const snapshot = snapshotOf('absent', 'same');
  const shop = (labels: Readonly<Record<string, string>>): KubeObject => knownNamespace('shop', labels);
  for (const review of [
    aReview({ object: shop({}) }),
    aReview({ object: shop({ a: 'b' }), oldObject: shop({}) }),
    aReview({ operation: 'DELETE', oldObject: shop({}) }),
  ])
    expect(decide(review, snapshot, circumstances).rights).toEqual([]);
});

it('owners are compared whole: a policy of the name of a binding owns none of its objects', () => {
  const live = liveObject(policysId, 'differs', 'tenant');
  expect(planOf(snapshotOf('absent', 'differs'), live)).not.toContain(`delete for ${tenantsId}`);
});
