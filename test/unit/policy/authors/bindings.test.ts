// The author of a binding answers for all that its intents can bring, in the binding's own namespace or everywhere.
import { describe, expect, it, test } from 'vitest';
import type { IntentAdapter } from '../../../../src/policy/intents/adapter.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { unlimitedBudget } from '../../../../src/policy/terms/budget.ts';
import {
  aPolicy,
  aProviderReview,
  aShare,
  aSnapshot,
  circumstances,
  knownNamespace,
  providerDecision,
} from '../../../support/engine.ts';
import {
  clusterBinding,
  definitionOf,
  intentContext,
  tenantBinding,
  withBindings,
} from '../../../support/intents.ts';
import {
  enforce,
  engineKind,
  engine,
  contextWith,
  context,
  install,
  decisionOn,
  rightsIn,
} from './binding-scene.ts';

describe('rights of authors', () => {
  it('a tenant needs the rights in the namespace of the binding alone', () => {
    const binding = tenantBinding('shop', 'b', { intents: ['token', 'dns', 'escape'] });
    expect(rightsIn(decisionOn(binding))).toEqual([
      'create networkpolicies in shop: spec.intents[1]',
      'patch networkpolicies in shop: spec.intents[1]',
      'delete networkpolicies in shop: spec.intents[1]',
      'patch serviceaccounts in shop: spec.intents[0]',
      'patch namespaces/shop in shop: spec.intents[2]',
    ]);
  });

  it('the author of a binding of the cluster needs the rights everywhere', () => {
    const binding = clusterBinding('b', { intents: ['dns', 'escape'] });
    expect(rightsIn(decisionOn(binding))).toEqual([
      'create networkpolicies in all: spec.intents[0]',
      'patch networkpolicies in all: spec.intents[0]',
      'delete networkpolicies in all: spec.intents[0]',
      'patch namespaces in all: spec.intents[1]',
    ]);
  });

  it('a binding without labels needs no right on Namespaces', () => {
    const rights = rightsIn(decisionOn(tenantBinding('shop', 'b', { intents: ['dns'] })));
    expect(rights.filter((each) => each.includes(' namespaces'))).toEqual([]);
  });

  it('an engine that is not installed yet needs the rights now', () => {
    const given = contextWith({ unserved: ['ConfigMap'] });
    const decision = decisionOn(tenantBinding('shop', 'b', { intents: ['pfa'] }), { given });
    expect(rightsIn(decision)).toEqual(
      ['create', 'patch', 'delete'].map((verb) => `${verb} configmaps in shop: spec.intents[0]`),
    );
  });

  it('an engine that the installation does not offer needs no right', () => {
    const given = contextWith({ offered: [] });
    expect(rightsIn(decisionOn(tenantBinding('shop', 'b', { intents: ['pfa'] }), { given }))).toEqual([]);
  });

  it('a binding that gets an intent needs the rights for all of its intents', () => {
    const [less, more] = [['dns'], ['dns', 'pfa']].map((names) =>
      tenantBinding('shop', 'b', { intents: names }),
    );
    if (less === undefined || more === undefined) throw new Error('two bindings');
    expect(rightsIn(decisionOn(more, { before: less }))).toHaveLength(6);
  });
});

describe('an intent with one namespace', () => {
  const given = intentContext(
    { scan: { id: 'assessTLS', params: { namespace: 'scans' } } },
    { tlsScanImage: 'registry.example/scanner:1' },
  );
  const namespaces = [knownNamespace('shop'), knownNamespace('scans', { scans: 'yes' })];
  const warned = (match: object, known = namespaces): readonly string[] =>
    decisionOn(clusterBinding('b', { match, intents: ['scan'] }), {
      given,
      namespaces: known,
    }).notices.filter((notice) => notice.includes('is not kept'));
  const text = (why: string): string =>
    `ClusterSecurityIntentBinding/b: SecurityIntent scan (assessTLS) is not kept: params.namespace names the only place for its objects, and ${why}`;

  it.each([
    ['by its names', { names: ['shop'] }],
    ['by its excluded names', { excludeNames: ['scans'] }],
    ['by its selector', { namespaceSelector: { matchLabels: { scans: 'no' } } }],
  ])('its author is warned where the match leaves that namespace out %s', (_, match) => {
    expect(warned(match)).toEqual([text('the binding does not match namespace scans')]);
  });

  it('its author is warned where that namespace does not exist', () => {
    expect(warned({}, [knownNamespace('shop')])).toEqual([text('there is no namespace scans')]);
  });

  it.each([
    ['all namespaces', {}],
    ['its label', { namespaceSelector: { matchLabels: { scans: 'yes' } } }],
  ])('no one is warned where the match is %s', (_, match) => {
    expect(warned(match)).toEqual([]);
  });
});

describe('a label that a tenant sets through a binding', () => {
  const binding = tenantBinding('shop', 'b', { intents: ['escape'] });
  const reading = { namespaceSelector: { matchLabels: { [enforce]: 'baseline' } } };
  const contents = { resources: [{ ...engineKind, metadata: { name: 'c' } }] };
  const templated = {
    resources: [
      {
        ...engineKind,
        metadata: { name: 'c' },
        data: { a: `\${namespaceObject.metadata.labels['${enforce}']}` },
      },
    ],
  };
  const source = { namespace: 'reeve-shared', name: 's' };

  test.for([
    ['joins its namespace to a policy with contents', { match: reading, contents }, true],
    ['changes a template', { contents: templated }, true],
    ['joins its namespace to a policy with rules alone', { match: reading }, false],
    [
      'leaves a policy',
      { match: { namespaceSelector: { matchExpressions: [{ key: enforce, operator: 'DoesNotExist' }] } } },
      true,
    ],
    [
      'has no effect on a policy that reads another label',
      { match: { namespaceSelector: { matchLabels: { tier: 'a' } } }, contents },
      false,
    ],
    [
      'has no effect on a policy for another namespace',
      { match: { ...reading, names: ['other'] }, contents },
      false,
    ],
    [
      'has no effect on a condition with the same answer',
      { match: { matchConditions: [{ name: 'c', expression: 'true' }] }, contents },
      false,
    ],
  ] as const)('%s', ([, spec, isNeeded]) => {
    const rights = rightsIn(decisionOn(binding, { policies: [aPolicy('p', spec)] }));
    expect(rights.filter((each) => each.startsWith('use '))).toEqual(
      isNeeded ? ['use namespacepolicies/p in all: spec.intents'] : [],
    );
  });

  it('a label that a tenant sets through a binding counts although the namespace has the label already, because the binding sets it again', () => {
    const namespaces = [knownNamespace('shop', { [enforce]: 'baseline' })];
    const policies = [aPolicy('p', { match: reading, contents })];
    expect(rightsIn(decisionOn(binding, { policies, namespaces }))).toContain(
      'use namespacepolicies/p in all: spec.intents',
    );
  });

  it('a label that a tenant sets through a binding counts for a share, too', () => {
    const shares = [aShare('s', { source, targets: reading })];
    expect(rightsIn(decisionOn(binding, { shares }))).toContain('use secretshares/s in all: spec.intents');
  });

  it('a label that a tenant sets through a binding counts for every reader while the namespace is not known', () => {
    const policies = [aPolicy('p', { match: { ...reading, names: ['other'] }, contents })];
    expect(rightsIn(decisionOn(binding, { policies, namespaces: [] }))).toContain(
      'use namespacepolicies/p in all: spec.intents[0]',
    );
  });

  it('a label that a tenant sets through a binding counts for every reader where the time runs out', () => {
    const policies = [aPolicy('p', { match: { ...reading, names: ['other'] }, contents })];
    const budget = { ...unlimitedBudget, isSpent: () => true };
    expect(rightsIn(decisionOn(binding, { policies, budget }))).toContain(
      'use namespacepolicies/p in all: spec.intents[0]',
    );
  });

  it('a label of a binding of the cluster counts for every reader', () => {
    const policies = [aPolicy('p', { match: { ...reading, names: ['other'] }, contents })];
    const tenants = definitionOf(tenantBinding('shop', 't', { intents: ['dns'] }), context).compiled;
    const decision = decisionOn(clusterBinding('b', { intents: ['escape'] }), {
      policies: [...policies, tenants],
    });
    expect(rightsIn(decision).filter((each) => each.startsWith('use '))).toEqual([
      'use namespacepolicies/p in all: spec.intents[0]',
    ]);
  });
});

describe('warnings', () => {
  test.for([
    [
      'a missing intent',
      ['dns', 'later'],
      {},
      'SecurityIntentBinding/shop/b: SecurityIntent later does not exist; the binding waits for it',
    ],
    [
      'an intent that nothing keeps',
      ['patch'],
      {},
      'SecurityIntentBinding/shop/b: SecurityIntent patch (virtualPatch) is not kept: it needs a feed of vulnerabilities from the internet, which Reeve does not read',
    ],
    [
      'what the binding provides',
      ['dns', 'escape'],
      {},
      `SecurityIntentBinding/shop/b keeps its intents with NetworkPolicy dns, label ${enforce}`,
    ],
    [
      'what comes with an engine',
      ['pfa'],
      { unserved: ['ConfigMap'] },
      'SecurityIntentBinding/shop/b also provides ConfigMap once the API server serves this kind',
    ],
  ] as const)('%s is a warning, never a refusal', ([, names, options, notice]) => {
    const given = contextWith(options);
    const decision = decisionOn(tenantBinding('shop', 'b', { intents: names }), { given });
    expect(decision.violations).toEqual([]);
    expect(decision.notices).toContain(notice);
  });

  it.each([
    ['served later', { unserved: ['ConfigMap'] }, 'the API server does not serve v1 ConfigMap'],
    ['served now', {}, 'this installation does not allow v1 ConfigMap (--resource-kind)'],
  ])(
    'no warning promises an object of a kind that is %s and that the install does not allow',
    (_, options, why) => {
      const resourceKinds = install.resourceKinds.filter((each) => each !== engineKind);
      const given = { ...contextWith(options), settings: { tlsScanImage: undefined, resourceKinds } };
      const binding = tenantBinding('shop', 'b', { intents: ['pfa'] });
      const { notices } = decisionOn(binding, { given, allowed: { ...install, resourceKinds } });
      expect(notices.filter((notice) => /provides|keeps/.test(notice))).toEqual([]);
      expect(notices.join()).toContain(`adapter engine supports it, but ${why}`);
    },
  );

  it('a write that changes nothing of that repeats none of it', () => {
    const binding = (maxDeletions: number) =>
      tenantBinding('shop', 'b', { intents: ['dns', 'later', 'patch'], maxDeletions });
    expect(decisionOn(binding(3), { before: binding(4) }).notices).toEqual([]);
  });

  it('a binding in a namespace that Reeve never touches has no effect', () => {
    const decision = decisionOn(tenantBinding('kube-system', 'b', { intents: ['dns'] }), {
      namespaces: [knownNamespace('kube-system'), knownNamespace('shop')],
    });
    expect(decision.notices).toContain(
      'SecurityIntentBinding/kube-system/b: no namespace matches now, because Reeve never touches namespace kube-system',
    );
  });
});

describe('a binding that is not valid is refused, at the field that its author wrote', () => {
  test.for([
    [{ intents: [] }, /^spec\.intents/],
    [{ intents: ['dns'], workloads: { cel: ['labels["a"].startsWith("b")'] } }, /^spec\.workloads\.cel\[0\]/],
    [{ intents: ['dns'], match: {} }, /^spec\.match/],
  ] as const)('%j', ([spec, path]) => {
    const { violations } = decisionOn(tenantBinding('shop', 'b', spec));
    expect(violations.map(({ violation }) => violation.path)).toEqual([expect.stringMatching(path)]);
    expect(violations[0]?.actions).toEqual(['Deny']);
  });

  it('intents that contradict each other only with an engine that comes later are refused now', () => {
    const other: IntentAdapter = {
      ...engine,
      render: ({ id }) => ({ resources: [{ ...engineKind, metadata: { name: 'same' }, data: { id } }] }),
      supports: ({ id }) => id === 'exploitPFA' || id === 'swDeploymentTools',
    };
    const given = intentContext(
      { a: { id: 'exploitPFA' }, b: { id: 'swDeploymentTools' } },
      { adapters: [other], unserved: ['ConfigMap'] },
    );
    const { violations } = decisionOn(tenantBinding('shop', 'b', { intents: ['a', 'b'] }), { given });
    expect(violations.map(({ violation }) => violation.path)).toEqual(['spec.intents[1]']);
  });
});

const stored = tenantBinding('shop', 'b', { intents: ['dns', 'pfa'], maxDeletions: 1 });
const deletion = (namespace: KubeObject, finalizers = ['reeve.dev/cleanup']) => {
  const held = { type: 'Stalled', status: 'True', reason: 'TooManyDeletions' };
  const object = {
    ...stored.object,
    metadata: { ...stored.object.metadata, finalizers },
    status: { conditions: [held] },
  };
  const review = aProviderReview({
    resource: 'securityintentbindings',
    namespace: 'shop',
    oldObject: object,
  });
  const snapshot = withBindings(aSnapshot([], [namespace]), context, []);
  return providerDecision(review, snapshot, { ...circumstances, install });
};

test('the deletion of a binding is refused beyond maxDeletions, with a command that names the namespace', () => {
  const { violations } = deletion(knownNamespace('shop'));
  expect(violations[0]?.violation.message).toContain(
    'kubectl annotate securityintentbindings.reeve.dev b -n shop --overwrite reeve.dev/confirm-deletions=2',
  );
});

test('the deletion of a binding is free while its namespace is being deleted', () => {
  const shop = knownNamespace('shop');
  const terminating = {
    ...shop,
    metadata: { ...shop.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' },
  };
  expect(deletion(terminating).violations).toEqual([]);
  expect(deletion(shop, []).violations).toHaveLength(1);
  expect(deletion(terminating, []).violations).toEqual([]);
});
