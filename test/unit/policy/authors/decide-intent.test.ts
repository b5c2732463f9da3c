// A write of an intent is judged as a write of each binding that names it.
import { describe, expect, it, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { IntentAdapter } from '../../../../src/policy/intents/adapter.ts';
import type { StoredBinding } from '../../../../src/policy/compile/snapshot.ts';
import { unlimitedBudget, type Budget } from '../../../../src/policy/terms/budget.ts';
import type { Decision } from '../../../../src/policy/terms/review.ts';
import {
  aProviderReview,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerDecision,
  testInstall,
} from '../../../support/engine.ts';
import {
  clusterBinding,
  definitionOf,
  intentContext,
  intentObject,
  tenantBinding,
  withBindings,
} from '../../../support/intents.ts';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };

/** Gives as many ConfigMaps as the intent has tags, one label for `escapeToHost`, and one ConfigMap in one namespace for `assessTLS`. */
const engine: IntentAdapter = {
  id: 'engine',
  needs: [],
  provides: [configMap],
  supports: ({ id }) => id === 'exploitPFA' || id === 'escapeToHost' || id === 'assessTLS',
  render({ id, name, tags = [], params: { psaLevel = 'baseline', namespace } = {} }) {
    if (id === 'escapeToHost') return { namespaces: { defaults: { labels: { level: psaLevel } } } };
    const resources = tags.map((tag) => ({ ...configMap, metadata: { name: `${name}-${tag}` } }));
    return { resources, ...(namespace === undefined ? {} : { onlyIn: namespace }) };
  },
};

const pfa = (...tags: readonly string[]) => ({ id: 'exploitPFA', tags });
const shop = knownNamespace('shop');
const all = clusterBinding('all', { intents: ['x'] });
const ofShop = tenantBinding('shop', 'own', { intents: ['x'] });

interface Given {
  readonly bindings?: readonly StoredBinding[];
  readonly before?: object;
  readonly after?: object;
  /** Other intents. */
  readonly others?: Readonly<Record<string, unknown>>;
  readonly namespaces?: readonly KubeObject[];
  readonly budget?: Budget;
}

function decisionOn({ bindings = [], before, after, others = {}, ...given }: Given): Decision {
  const stored = { ...others, ...(before === undefined ? {} : { x: before }) };
  const context = intentContext(stored, { adapters: [engine] });
  const namespaces = given.namespaces ?? [shop, knownNamespace('cart'), knownNamespace('kube-system')];
  const loaded = bindings.map((binding) => definitionOf(binding, context).compiled);
  const snapshot = withBindings(aSnapshot(loaded, namespaces), context, bindings);
  const review = aProviderReview({
    resource: 'securityintents',
    name: 'x',
    ...(before === undefined ? {} : { oldObject: intentObject('x', before) }),
    ...(after === undefined ? {} : { object: intentObject('x', after) }),
  });
  const budget = given.budget ?? circumstances.budget;
  return providerDecision(review, snapshot, { ...circumstances, budget, install: testInstall });
}

function rightsIn({ rights }: Decision): readonly string[] {
  return rights.map(({ verb, resource, namespace }) => `${verb} ${resource} in ${namespace ?? 'all'}`);
}

const writes = (place: string) =>
  ['create', 'patch', 'delete'].map((verb) => `${verb} configmaps in ${place}`);

test.for([
  [{ id: 'escapeToHots' }, 'spec.id', 'escapeToHost'],
  [{ id: 'escapeToHost', params: { psaLvl: 'baseline' } }, 'spec.params.psaLvl', 'psaLevel'],
] as const)('%j is refused with what is known', ([after, path, known]) => {
  const { violations } = decisionOn({ after });
  expect(violations[0]?.violation.path).toBe(path);
  expect(violations[0]?.violation.accepted).toContain(known);
});

test('an intent that no binding names needs no right and says nothing', () => {
  for (const write of [{ after: pfa('a') }, { before: pfa('a'), after: pfa() }, { before: pfa('a') }])
    expect(
      decisionOn({ ...write, bindings: [tenantBinding('shop', 'b', { intents: ['y'] })] }),
    ).toMatchObject({
      violations: [],
      rights: [],
      notices: [],
    });
});

describe('rights', () => {
  it('the author of an intent needs what its bindings come to provide', () => {
    expect(rightsIn(decisionOn({ after: pfa('a'), bindings: [ofShop] }))).toEqual(writes('shop'));
    expect(rightsIn(decisionOn({ after: pfa('a'), bindings: [all, ofShop] }))).toEqual(writes('all'));
  });

  it('a new intent needs the rights in the namespace of each tenant whose binding names it already', () => {
    const inCart = tenantBinding('cart', 'own', { intents: ['x', 'y'] });
    const left = { ...inCart, object: { ...inCart.object, status: { observedGeneration: 1, synced: 1 } } };
    const others = { y: { id: 'virtualPatch' } };
    const decision = decisionOn({ after: pfa('a'), bindings: [ofShop, left], others });
    expect(rightsIn(decision).toSorted()).toEqual([...writes('cart'), ...writes('shop')].toSorted());
  });

  it('a change that no adapter renders needs no right', () => {
    const decision = decisionOn({
      before: { ...pfa('a'), description: 'old' },
      after: { ...pfa('a'), description: 'new' },
      bindings: [all, ofShop],
    });
    expect(decision).toMatchObject({ rights: [], notices: [], violations: [] });
  });

  it('an object that moves to another namespace needs the rights, as a new one does', () => {
    const scanIn = (namespace: string) => ({ id: 'assessTLS', tags: ['a'], params: { namespace } });
    const decision = decisionOn({ before: scanIn('shop'), after: scanIn('cart'), bindings: [all] });
    expect(rightsIn(decision)).toEqual(writes('all'));
    expect(decision.notices).toContain(
      'ClusterSecurityIntentBinding/all deletes up to 1 object in namespace: shop',
    );
  });

  it('a deletion and a change that only removes need the right to delete the objects, as in each binding', () => {
    for (const after of [undefined, pfa('a')]) {
      const change = { before: pfa('a', 'b'), ...(after === undefined ? {} : { after }) };
      const ofTenant = decisionOn({ ...change, bindings: [ofShop] });
      expect(rightsIn(ofTenant)).toEqual(['delete configmaps in shop']);
      expect(ofTenant.rights.map(({ path, instead }) => [path, instead])).toEqual([['spec', undefined]]);
      expect(rightsIn(decisionOn({ ...change, bindings: [all, ofShop] }))).toEqual([
        'delete configmaps in all',
      ]);
    }
  });

  it('the deletion of an intent that gives nothing needs no right', () => {
    expect(rightsIn(decisionOn({ before: pfa(), bindings: [all, ofShop] }))).toEqual([]);
  });

  test.for([
    [5, 15],
    [6, 3],
  ] as const)('bindings in %i namespaces ask %i questions', ([count, questions]) => {
    const names = Array.from({ length: count }, (_, index) => `team-${index}`);
    const decision = decisionOn({
      after: pfa('a'),
      bindings: names.map((name) => tenantBinding(name, 'b', { intents: ['x'] })),
      namespaces: names.map((name) => knownNamespace(name)),
    });
    expect(rightsIn(decision)).toHaveLength(questions);
    if (questions === 3) expect(rightsIn(decision)).toEqual(writes('all'));
  });
});

describe('the fuse', () => {
  const tight = clusterBinding('tight', { intents: ['x'], maxDeletions: 1 });
  const status = { observedGeneration: undefined };
  const confirmed = (count: string, used?: string): StoredBinding => ({
    ...tight,
    object: {
      ...tight.object,
      metadata: { name: 'tight', annotations: { 'reeve.dev/confirm-deletions': count } },
      status: { ...status, ...(used === undefined ? {} : { confirmationUsed: used }) },
    },
  });

  it('the fuse refuses a change that deletes too much for a binding of the cluster, and says how to confirm it there', () => {
    const { violations } = decisionOn({ before: pfa('a'), bindings: [tight] });
    expect(violations.map(({ violation }) => violation.message)).toEqual([
      'ClusterSecurityIntentBinding/tight: this write would delete up to 2 objects in 2 namespaces (cart, shop), and spec.maxDeletions is 1. ' +
        'To confirm, first run: kubectl annotate clustersecurityintentbindings.reeve.dev tight --overwrite reeve.dev/confirm-deletions=2',
    ]);
  });

  test.for([
    ['a confirmation of the binding', confirmed('2'), 0],
    ['a confirmation of fewer', confirmed('1'), 1],
    ['a confirmation that is used up', confirmed('2', '2'), 1],
    [
      'a binding that leaves its objects',
      clusterBinding('t', { intents: ['x'], maxDeletions: 0, deletionPolicy: 'Orphan' }),
      0,
    ],
    ['a suspended binding', clusterBinding('t', { intents: ['x'], maxDeletions: 0, suspend: true }), 0],
  ] as const)('the number of refusals with %s is %i', ([, binding, count]) => {
    expect(decisionOn({ before: pfa('a'), bindings: [binding] }).violations).toHaveLength(count);
  });

  it('the fuse of a tenant refuses no write of an intent', () => {
    const binding = tenantBinding('shop', 'own', { intents: ['x'], maxDeletions: 0 });
    const { violations, notices } = decisionOn({ before: pfa('a'), bindings: [binding] });
    expect(violations).toEqual([]);
    expect(notices).toContain('deletions wait for a confirmation of SecurityIntentBinding/shop/own');
  });
});

describe('a contradiction with another intent', () => {
  const others = { y: { id: 'escapeToHost' } };
  const write = { others, after: { id: 'escapeToHost', params: { psaLevel: 'restricted' } } };
  const what = 'which contradicts SecurityIntent y: label level is baseline or restricted';

  it('a contradiction with another intent refuses the write for a binding of the cluster', () => {
    const bindings = [clusterBinding('b', { intents: ['y', 'x'] })];
    expect(decisionOn({ ...write, bindings }).violations.map(({ violation }) => violation.message)).toEqual([
      expect.stringContaining(
        `ClusterSecurityIntentBinding/b would not be valid: spec.intents[1]: found SecurityIntent x, ${what}`,
      ),
    ]);
  });

  it('a contradiction with another intent is a warning for a tenant, whose objects stay', () => {
    const bindings = [tenantBinding('shop', 'b', { intents: ['y', 'x'] })];
    const { violations, notices } = decisionOn({ ...write, bindings });
    expect(violations).toEqual([]);
    expect(notices.join('\n')).toContain(
      'SecurityIntentBinding/shop/b would not be valid, so its objects stay',
    );
  });
});

describe('warnings', () => {
  it('the deletion of an intent in use names its bindings, and counts the objects', () => {
    expect(decisionOn({ before: pfa('a'), bindings: [ofShop, all] }).notices).toEqual([
      'SecurityIntent x is deleted, and no longer holds for 2 bindings: ClusterSecurityIntentBinding/all, SecurityIntentBinding/shop/own',
      expect.stringMatching(/^ClusterSecurityIntentBinding\/all deletes up to 1 object in namespace: cart$/),
      'ClusterSecurityIntentBinding/all: SecurityIntent x does not exist; the binding waits for it',
      'SecurityIntentBinding/shop/own: SecurityIntent x does not exist; the binding waits for it',
    ]);
  });

  it('an intent that bindings wait for says what they add, and where', () => {
    const { notices } = decisionOn({ after: pfa('a'), bindings: [all] });
    expect(notices).toEqual([
      'SecurityIntent x changes what holds for 1 binding: ClusterSecurityIntentBinding/all',
      'ClusterSecurityIntentBinding/all keeps its intents with ConfigMap x-a',
      'ClusterSecurityIntentBinding/all adds ConfigMap x-a in 2 namespaces: cart, shop',
    ]);
  });

  it('the warnings of many tenants are summed up', () => {
    const names = ['a', 'b', 'c', 'd'];
    const { notices } = decisionOn({
      before: pfa('1', '2'),
      bindings: names.map((name) =>
        tenantBinding(name, 'own', { intents: ['x'], maxDeletions: name === 'a' ? 1 : 5 }),
      ),
      namespaces: names.map((name) => knownNamespace(name)),
    });
    expect(notices).toEqual([
      expect.stringMatching(/^SecurityIntent x is deleted, and no longer holds for 4 bindings: /),
      'these bindings delete up to 8 objects in 4 namespaces: a, b, c, d',
      'deletions wait for a confirmation of 1 binding: SecurityIntentBinding/a/own',
    ]);
  });
});

describe('a cluster with thousands of bindings', () => {
  const names = Array.from({ length: 3000 }, (_, index) => `team-${index}`);
  const tenants = names.map((name) => tenantBinding(name, 'own', { intents: ['x'] }));
  const namespaces = names.map((name) => knownNamespace(name));

  /** Is spent after so many questions. */
  function budgetOf(questions: number): Budget & { asked: number } {
    const budget = { ...unlimitedBudget, asked: 0, isSpent: () => (budget.asked += 1) > questions };
    return budget;
  }

  it('a review in a cluster with thousands of bindings looks at the own namespace of each tenant alone', () => {
    const budget = budgetOf(Infinity);
    const decision = decisionOn({ after: pfa('a'), bindings: tenants, namespaces, budget });
    expect(rightsIn(decision)).toEqual(writes('all'));
    expect(budget.asked).toBeLessThan(names.length * 20);
  });

  it('a review in a cluster with thousands of bindings asks for all rights that the adapters need when no budget is left for all bindings', () => {
    const decision = decisionOn({
      after: pfa('a'),
      bindings: [all, ...tenants],
      namespaces,
      budget: budgetOf(50),
    });
    expect(rightsIn(decision)).toEqual(
      expect.arrayContaining([...writes('all'), 'patch namespaces in all', 'patch serviceaccounts in all']),
    );
    expect(decision.notices.join('\n')).toMatch(
      /evaluating SecurityIntent x costs too much for \d{4} bindings: /,
    );
    expect(decision.overBudget).toBe(false);
  });

  it('an unchanged form is compiled once for all bindings that have it', () => {
    const decision = decisionOn({
      before: { ...pfa('a'), severity: 'Low' },
      after: { ...pfa('a'), severity: 'High' },
      bindings: tenants,
      namespaces,
    });
    expect(decision).toMatchObject({ rights: [], notices: [], violations: [] });
  });
});
