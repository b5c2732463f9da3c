// The rights to delete or weaken what a binding provides, and to bind intents that do not exist yet.
import { describe, expect, it, test } from 'vitest';
import type { IntentContext } from '../../../../src/policy/intents/intent-context.ts';
import {
  aPolicy,
  aProviderReview,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerDecision,
} from '../../../support/engine.ts';
import { clusterBinding, tenantBinding, withBindings } from '../../../support/intents.ts';
import { enforce, engineKind, contextWith, context, install, decisionOn, rightsIn } from './binding-scene.ts';

describe('rights to delete what a binding provides', () => {
  const deletePfa = 'delete configmaps in shop';
  const deleteDns = 'delete networkpolicies in shop';
  const patchLabel = 'patch namespaces/shop in shop';
  const patchAccount = 'patch serviceaccounts in shop';
  const whole = { intents: ['dns', 'pfa'] };
  /** The rights on objects, without those that the newer version needs for what it provides itself. */
  const lost = (before: object, after: object | undefined, given = context): readonly string[] => {
    const [stored, written] = [before, after].map((spec) =>
      spec === undefined ? undefined : tenantBinding('shop', 'b', spec),
    );
    if (stored === undefined) throw new Error('a stored binding');
    const review = aProviderReview({
      resource: 'securityintentbindings',
      namespace: 'shop',
      name: 'b',
      oldObject: stored.object,
      ...(written === undefined ? {} : { object: written.object }),
    });
    const snapshot = withBindings(aSnapshot([], [knownNamespace('shop')]), given, []);
    const decision = providerDecision(review, snapshot, { ...circumstances, install });
    const taking = decision.rights.filter(({ instead }) => instead !== undefined);
    for (const { instead } of taking)
      expect(instead).toMatchObject({
        verb: 'use',
        resource: 'securityintentbindings',
        name: 'b',
        namespace: 'shop',
      });
    return rightsIn({ ...decision, rights: taking }).map((each) => each.replace(': spec.intents', ''));
  };

  test.for([
    ['a deletion', whole, undefined, [deleteDns, deletePfa]],
    [
      'a deletion that keeps the objects',
      { ...whole, deletionPolicy: 'Orphan' },
      undefined,
      [deleteDns, deletePfa].map((each) => each.replace('delete', 'patch')),
    ],
    [
      'a deletion of what labels the Namespace',
      { intents: ['escape', 'token'] },
      undefined,
      [patchAccount, patchLabel],
    ],
    [
      'a suspension',
      whole,
      { ...whole, suspend: true },
      [deleteDns, deletePfa].map((each) => each.replace('delete', 'patch')),
    ],
    ['an intent that is left out', whole, { intents: ['dns'] }, [deletePfa]],
    [
      'an intent with a label that is left out',
      { intents: ['dns', 'escape'] },
      { intents: ['dns'] },
      [patchLabel],
    ],
    ['an intent in the place of another one', { intents: ['pfa'] }, { intents: ['dns'] }, [deletePfa]],
    [
      'fewer Pods',
      { intents: ['pfa', 'token'] },
      { intents: ['token'], workloads: { matchLabels: { a: 'b' } } },
      [deletePfa, patchAccount],
    ],
    ['the same intents in another order', whole, { intents: ['pfa', 'dns'] }, []],
    ['another contact', whole, { ...whole, contact: 'team@example.com' }, []],
    ['a deletion of what nothing keeps', { intents: ['patch'] }, undefined, []],
    ['a deletion of what waits for its intent', { intents: ['later'] }, undefined, []],
  ] as const)('%s', ([, before, after, expected]) => {
    expect(lost(before, after)).toEqual(expected);
  });

  it('a binding that does not load needs the rights on all that adapters provide', () => {
    const { forms: _forms, ...others } = context;
    const invalid: IntentContext = { ...others, intents: new Map([['pfa', 'invalid']]) };
    expect(lost({ intents: ['pfa'] }, undefined, invalid)).toEqual([
      'delete networkpolicies in shop',
      'delete configmaps in shop',
      patchLabel,
      patchAccount,
    ]);
  });

  it('the deletion of a binding of the cluster, and one that leaves a namespace, need the rights everywhere', () => {
    const before = clusterBinding('b', { intents: ['pfa'] });
    const narrower = clusterBinding('b', { intents: ['pfa'], match: { names: ['shop'] } });
    expect(rightsIn(decisionOn(narrower, { before }))).toEqual(['delete configmaps in all: spec.intents']);
    const review = aProviderReview({ resource: 'clustersecurityintentbindings', oldObject: before.object });
    const snapshot = withBindings(aSnapshot([], [knownNamespace('shop')]), context, []);
    expect(rightsIn(providerDecision(review, snapshot, { ...circumstances, install }))).toEqual([
      'delete configmaps in all: spec.intents',
    ]);
  });
});

describe('a binding that is written before its intent', () => {
  const all = [
    'create networkpolicies in shop: spec.intents',
    'patch networkpolicies in shop: spec.intents',
    'delete networkpolicies in shop: spec.intents',
    'create configmaps in shop: spec.intents',
    'patch configmaps in shop: spec.intents',
    'delete configmaps in shop: spec.intents',
    'patch namespaces/shop in shop: spec.intents',
    'patch serviceaccounts in shop: spec.intents',
  ];
  const early = tenantBinding('shop', 'b', { intents: ['later'] });

  it('a binding that is written before its intent needs the rights for all that an intent can bring, and says so', () => {
    const decision = decisionOn(early);
    expect(rightsIn(decision)).toEqual(all);
    expect(decision.rights[0]?.effect).toBe(
      'bind SecurityIntent later before it exists, because it could create, change and delete objects of kind NetworkPolicy',
    );
  });

  it('a binding that is written before its intent counts engines that the API server does not serve yet, and none that the install does not offer', () => {
    expect(rightsIn(decisionOn(early, { given: contextWith({ unserved: ['ConfigMap'] }) }))).toEqual(all);
    const without = rightsIn(decisionOn(early, { given: contextWith({ offered: [] }) }));
    expect(without).toEqual(all.filter((each) => !each.includes('configmaps')));
  });

  it('a binding that is written before its intent needs the right to use each policy that reads a label which an intent can set', () => {
    const reading = { namespaceSelector: { matchLabels: { [enforce]: 'restricted' } } };
    const contents = { resources: [{ ...engineKind, metadata: { name: 'c' } }] };
    const policies = [aPolicy('p', { match: reading, contents })];
    expect(rightsIn(decisionOn(early, { policies }))).toContain(
      'use namespacepolicies/p in all: spec.intents',
    );
  });

  test.for([
    ['another missing intent', { intents: ['later', 'other'] }, all],
    ['other Pods', { intents: ['later'], workloads: { matchLabels: { a: 'b' } } }, all],
    ['a contact', { intents: ['later'], contact: 'team@example.com' }, all],
    ['a suspension', { intents: ['later'], suspend: true }, []],
  ] as const)(
    'a change to %s is judged like the first write, unless it only takes away',
    ([, spec, expected]) => {
      expect(rightsIn(decisionOn(tenantBinding('shop', 'b', spec), { before: early }))).toEqual(expected);
    },
  );

  it('a binding that is written before its intent needs no right to lose the name of a missing intent', () => {
    const before = tenantBinding('shop', 'b', { intents: ['dns', 'later'] });
    const after = tenantBinding('shop', 'b', { intents: ['dns'] });
    expect(decisionOn(after, { before })).toMatchObject({ rights: [], violations: [] });
  });

  test('an intent of a kind that is not served yet may come later for a new binding, and not for a stored one', () => {
    const given = { ...contextWith(), isKindMissing: true };
    const binding = tenantBinding('shop', 'b', { intents: ['later'] });
    expect(decisionOn(binding, { given })).toEqual(decisionOn(binding));
    const stored = tenantBinding('shop', 'b', { intents: ['dns', 'later'] });
    const { violations } = decisionOn(binding, { given, before: stored });
    expect(violations.map(({ violation }) => violation.found)).toEqual([
      'SecurityIntent later, but the API server did not serve SecurityIntents at the last look, up to 30 s ago',
    ]);
  });
});
