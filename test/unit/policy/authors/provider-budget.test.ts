import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { unlimitedBudget, type Budget } from '../../../../src/policy/terms/budget.ts';
import {
  aProviderReview,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerObject,
  testInstall,
  providerDecision,
  writeDecision,
} from '../../../support/engine.ts';

const namespaces = ['a', 'b', 'c'].map((name) => knownNamespace(name));

function share(names: readonly string[]): KubeObject {
  const spec = {
    source: { namespace: 'reeve-shared', name: 'regcred' },
    targets: { names },
    maxDeletions: 1,
  };
  return providerObject('SecretShare', 'regcred', spec, { finalizers: ['reeve.dev/cleanup'] });
}

describe('the budget', () => {
  const decided = (object: KubeObject | undefined, oldObject: KubeObject | undefined, budget: Budget) =>
    writeDecision({ oldObject, object }, aSnapshot([], namespaces), { budget });
  /** Returns a budget that is spent after a number of checks. */
  const after = (checks: number): Budget => {
    let left = checks;
    return { ...unlimitedBudget, isSpent: () => (left -= 1) < 0 };
  };
  const conditions = (text: string) => ({
    match: { names: ['*'], matchConditions: [{ name: 'c', expression: text }] },
    validations: [{ name: 'a', expression: 'true', message: 'm' }],
  });

  test('a policy with Deny that is not compared with all namespaces is refused', () => {
    const policy = providerObject('NamespacePolicy', 'p', conditions('true'));
    expect(decided(policy, undefined, after(100)).overBudget).toBe(false);
    expect(decided(policy, undefined, after(0)).overBudget).toBe(true);
  });

  test('a share that is not compared with all namespaces is written, and the answer names those that are left out', () => {
    expect(decided(share(['none']), share(['*']), after(2))).toMatchObject({
      overBudget: false,
      violations: [],
      notices: [
        'evaluating SecretShare/regcred costs too much for 2 namespaces: b, c; ' +
          'the numbers of this answer leave them out, and more than 1 deletions still wait for a confirmation',
        'SecretShare/regcred no longer reaches 1 namespace: a',
        'SecretShare/regcred deletes up to 1 object in namespace: a',
      ],
    });
  });

  test('the deletion of a share that is not compared with all namespaces warns that uncounted objects can stay', () => {
    expect(decided(undefined, share(['*']), after(0)).notices).toEqual([
      'evaluating SecretShare/regcred costs too much for 3 namespaces: a, b, c; the numbers of this answer leave them out, ' +
        'and all objects stay if there are more than 1 and reeve.dev/confirm-deletions does not confirm them',
    ]);
  });

  describe('a deletion that is not compared with all namespaces', () => {
    const contents = {
      resources: ['x', 'y'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })),
    };
    const policy = (spec: object, status: object, metadata: object = {}) => ({
      ...providerObject(
        'NamespacePolicy',
        'p',
        { match: { names: ['a', 'b'] }, contents, maxDeletions: 2, ...spec },
        { generation: 3, finalizers: ['reeve.dev/cleanup'], ...metadata },
      ),
      status: { observedGeneration: 3, ...status },
    });
    const messages = (stored: KubeObject) =>
      decided(undefined, stored, after(0)).violations.map(({ violation }) => violation.message);
    const confirmed = (count: number) => ({ annotations: { 'reeve.dev/confirm-deletions': String(count) } });
    const synced = { desired: 3, synced: 3 };

    test('a deletion that is not compared with all namespaces is refused while its status counts more than maxDeletions, until that number is confirmed', () => {
      expect(messages(policy({}, synced))).toEqual([
        'this write would delete 3 objects in 2 namespaces (a, b), and spec.maxDeletions is 2. To confirm, first run: ' +
          'kubectl annotate namespacepolicies.reeve.dev p --overwrite reeve.dev/confirm-deletions=3',
      ]);
      expect(messages(policy({}, synced, confirmed(2)))).toHaveLength(1);
      expect(messages(policy({}, synced, confirmed(3)))).toEqual([]);
      expect(messages(policy({}, { desired: 2, synced: 2 }))).toEqual([]);
      expect(messages(policy({ deletionPolicy: 'Orphan' }, synced))).toEqual([]);
    });

    test('a deletion that is not compared with all namespaces is refused by the number of its contents while its status is of an older version', () => {
      const older = { observedGeneration: 2, desired: 0, synced: 0 };
      expect(messages(policy({}, older))).toEqual([
        expect.stringContaining('this write would delete up to 4 objects in 2 namespaces (a, b)'),
      ]);
      expect(messages(policy({}, older, confirmed(4)))).toEqual([]);
    });

    test('a deletion that is not compared with all namespaces is refused with --cascade=orphan while its status counts objects', () => {
      const oldObject = policy({}, { desired: 1, synced: 1 });
      const attributes = { options: { propagationPolicy: 'Orphan' } };
      const review = aProviderReview({ resource: 'namespacepolicies', oldObject, attributes });
      const late = { ...circumstances, budget: after(0), install: testInstall };
      const { violations } = providerDecision(review, aSnapshot([], namespaces), late);
      expect(violations.map(({ violation }) => violation.rule)).toEqual(['cascade']);
    });

    test('a deletion that is not compared with all namespaces names only namespaces that its names and labels can match, and no objects for a policy without contents', () => {
      expect(decided(undefined, policy({ contents: {} }, {}), after(0)).notices).toEqual([
        'evaluating NamespacePolicy/p costs too much for 2 namespaces: a, b; the numbers of this answer leave them out',
      ]);
    });
  });

  test('a namespace whose evaluation ends without time is left out, and is no error of the match condition', () => {
    // Namespace a has one check at its start, one at its match condition, and one after it.
    let checks = 0;
    const budget = { ...unlimitedBudget, isSpent: () => [2, 3].includes((checks += 1)) };
    const { notices, violations } = decided(
      providerObject('NamespacePolicy', 'p', conditions('true')),
      undefined,
      budget,
    );
    expect(violations).toEqual([]);
    expect(notices).toEqual([
      expect.stringContaining('evaluating NamespacePolicy/p costs too much for 1 namespace: a;'),
      'NamespacePolicy/p can refuse writes of these namespaces, because it costs too much. ' +
        'Make its match conditions and other expressions cheaper',
      expect.stringContaining('now reaches 2 namespaces: b, c'),
    ]);
  });

  const square = (size: number): string =>
    `lists.range(${size}).all(x, lists.range(${size}).all(y, x + y >= 0))`;
  const costsOf = (object: KubeObject, oldObject?: KubeObject) =>
    decided(object, oldObject, unlimitedBudget).notices.filter((notice) => notice.includes('units'));
  const pricedPolicy = (spec: object) =>
    providerObject('NamespacePolicy', 'p', { match: { names: ['a'] }, ...spec });
  const priced = (spec: object) => costsOf(pricedPolicy(spec));

  test.each([
    [
      'match condition',
      { match: { names: ['*'], matchConditions: [{ name: 'c', expression: square(210) }] } },
    ],
    [
      'match condition that is false',
      { match: { names: ['*'], matchConditions: [{ name: 'c', expression: `!${square(210)}` }] } },
    ],
    ['validation', { validations: [{ name: 'a', expression: square(210), message: 'm' }] }],
    [
      'content',
      {
        contents: {
          resources: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'x' },
              data: { a: `\${${square(210)} ? 'a' : 'b'}` },
            },
          ],
        },
      },
    ],
  ])('a warning names the cost of an expensive %s', (_, spec) => {
    expect(priced(spec)).toEqual([
      expect.stringMatching(
        /^NamespacePolicy\/p costs 44\d,\d{3} units in namespace a, of the 2,500,000 units that all policies together may cost for one request\. Make its expressions cheaper$/,
      ),
    ]);
  });

  test('a warning names the cost of what is written, not of the older version', () => {
    const match = (condition: string) => ({
      match: { names: ['a'], matchConditions: [{ name: 'c', expression: condition }] },
    });
    const [dear, cheap] = [`!${square(210)}`, 'false'].map((condition) => pricedPolicy(match(condition)));
    if (dear === undefined || cheap === undefined) throw new Error('two policies are expected');
    expect(costsOf(cheap, dear)).toEqual([]);
    expect(costsOf(dear, cheap)).toHaveLength(1);
    expect(costsOf({ ...dear, spec: { ...match(`!${square(210)}`), maxDeletions: 1 } }, dear)).toHaveLength(
      1,
    );
  });

  test('no warning names the cost of a policy that leaves enough for nine others', () => {
    expect(priced({ validations: [{ name: 'a', expression: square(100), message: 'm' }] })).toEqual([]);
  });

  test('namespaces that the webhook had no time for are not blamed on the policy', () => {
    let checks = 0;
    const budget = {
      ...unlimitedBudget,
      isSpent: () => (checks += 1) > 4,
      get isLate() {
        return checks > 4;
      },
    };
    const late = decided(providerObject('NamespacePolicy', 'p', conditions('true')), undefined, budget);
    expect(late.overBudget).toBe(true);
    expect(late.notices).toEqual([
      expect.stringMatching(
        /^the webhook is short of processor time and did not evaluate NamespacePolicy\/p for \d namespaces?: .*; the numbers of this answer leave them out$/,
      ),
      ...late.notices.slice(1),
    ]);
    expect(late.notices.join()).not.toMatch(/cheaper|costs/);
  });

  test('a write that needs no decision needs no budget', () => {
    const budget = { ...unlimitedBudget, isSpent: () => true };
    const review = aProviderReview({
      resource: 'secretshares',
      oldObject: share(['*']),
      object: share(['*']),
    });
    expect(
      providerDecision(review, aSnapshot([], namespaces), { ...circumstances, budget, install: testInstall }),
    ).toMatchObject({ overBudget: false });
  });
});
