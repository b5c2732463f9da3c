// A binding and its intents give the policy that they mean, or problems at the fields that its author wrote.
import { kinds } from '../../../../src/api/kinds.ts';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { renderProblem } from '../../../../src/base/problem.ts';
import type { IntentAdapter, Rendering } from '../../../../src/policy/intents/adapter.ts';
import { withAllServed, withIntent } from '../../../../src/policy/intents/intent-context.ts';
import { unlimitedBudget } from '../../../../src/policy/terms/budget.ts';
import { knownNamespace } from '../../../support/engine.ts';
import {
  anIntent,
  clusterBinding,
  definitionOf,
  intentContext,
  loadStoredBinding,
  tenantBinding,
} from '../../../support/intents.ts';

const enforce = 'pod-security.kubernetes.io/enforce';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };

/** Renders what the test says for an intent, by name. */
function adapterOf(
  id: string,
  renderings: Readonly<Record<string, Rendering>>,
  more: Partial<IntentAdapter> = {},
): IntentAdapter {
  return {
    id,
    needs: [],
    provides: [configMap],
    supports: ({ name }) => Object.hasOwn(renderings, name),
    render: ({ name }) => renderings[name] ?? {},
    ...more,
  };
}

function configMapNamed(name: string, data: Readonly<Record<string, string>> = {}): Rendering {
  return { resources: [{ ...configMap, metadata: { name }, data }] };
}

const any = { id: 'exploitPFA' };

function problemsWith(adapters: readonly IntentAdapter[], intents: readonly string[]): readonly string[] {
  const context = intentContext(Object.fromEntries(intents.map((name) => [name, any])), { adapters });
  const load = loadStoredBinding(clusterBinding('b', { intents }), context);
  return load.ok ? [] : load.problems.map(renderProblem);
}

describe('a binding with real adapters', () => {
  const intents = {
    escape: { id: 'escapeToHost', params: { psaLevel: 'restricted' } },
    dns: { id: 'dnsManipulation', action: 'Block' },
    token: { id: 'unAuthorizedSaTokenAccess' },
    watch: { id: 'escapeToHost', action: 'Warn' },
  };
  const context = intentContext(intents, { offered: ['pod-security', 'network', 'workload'] });

  it('a tenant binding is a policy that matches its own namespace, whatever else is there', () => {
    const {
      object,
      compiled,
      intents: facts,
    } = definitionOf(tenantBinding('shop', 'safe', { intents: ['escape', 'dns', 'token'] }), context);
    expect(compiled.id).toBe('SecurityIntentBinding/shop/safe');
    expect(compiled.name).toBe('SecurityIntentBinding/shop/safe');
    expect(object.spec.match).toEqual({ names: ['shop'] });
    expect(object.spec.validationActions).toEqual(['Deny']);
    expect(object.spec.existing).toBe('Repair');
    expect(object.spec.namespaces).toEqual({
      defaults: { labels: { [enforce]: 'restricted' }, annotations: {} },
      required: { labels: { [enforce]: { values: ['restricted'] } }, annotations: {} },
    });
    expect(object.spec.contents?.serviceAccounts).toEqual([
      { name: 'default', automountServiceAccountToken: false },
    ]);
    expect(facts.rendered).toEqual([
      { adapter: 'pod-security', intent: 'escape', kind: 'Namespace', name: enforce },
      { adapter: 'network', intent: 'dns', kind: 'NetworkPolicy', name: 'dns' },
      { adapter: 'workload', intent: 'token', kind: 'ServiceAccount', name: 'default' },
    ]);
    expect(facts).toMatchObject({ bound: ['escape', 'dns', 'token'], missing: [], unsupported: [] });
  });

  it('a binding of the cluster keeps its match and its other fields', () => {
    const match = { namespaceSelector: { matchLabels: { tier: 'team' } }, excludeNames: ['team-old'] };
    const fields = { maxDeletions: 3, deletionPolicy: 'Orphan', suspend: true, contact: 'secops' };
    const { object, compiled } = definitionOf(
      clusterBinding('b', { match, intents: ['dns'], ...fields }),
      context,
    );
    expect(object.spec).toMatchObject({ match, ...fields });
    expect(compiled.id).toBe('ClusterSecurityIntentBinding/b');
  });

  test.for([
    [['dns'], 'Audit', 'Report'],
    [['watch', 'dns'], 'Warn', 'Repair'],
    [['escape', 'dns'], 'Deny', 'Repair'],
  ] as const)('the intents %j with rules on Namespaces give the action %s', ([names, action, existing]) => {
    const { object } = definitionOf(clusterBinding('b', { intents: names }), context);
    expect(object.spec).toMatchObject({ validationActions: [action], existing });
  });

  it('an intent that is missing leaves the others in force', () => {
    const { compiled, intents: facts } = definitionOf(
      clusterBinding('b', { intents: ['dns', 'later'] }),
      context,
    );
    expect(facts).toMatchObject({ named: ['dns', 'later'], bound: ['dns'], missing: ['later'] });
    expect(compiled.contents.map(({ type }) => type.kind)).toEqual(['NetworkPolicy']);
  });

  it('a stored intent that does not load makes the binding invalid, so that its objects stay', () => {
    const invalid = { ...context, intents: new Map([['escape', 'invalid' as const]]) };
    const load = loadStoredBinding(clusterBinding('b', { intents: ['dns', 'escape'] }), invalid);
    expect(load.ok ? [] : load.problems.map(renderProblem)).toEqual([
      'spec.intents[1]: found SecurityIntent escape, which is not valid; accepted: a valid SecurityIntent',
    ]);
  });

  it('an intent can be tried in another version, and without it', () => {
    const other = withIntent(context, 'escape', anIntent('escape', { id: 'escapeToHost' }));
    const binding = clusterBinding('b', { intents: ['escape'] });
    expect(definitionOf(binding, other).object.spec.namespaces?.defaults?.labels).toEqual({
      [enforce]: 'baseline',
    });
    expect(definitionOf(binding, withIntent(context, 'escape', undefined)).intents.missing).toEqual([
      'escape',
    ]);
  });
});

describe('what no adapter keeps', () => {
  const intents = { pfa: any, patch: { id: 'virtualPatch' } };
  const needy = adapterOf('engine', { pfa: configMapNamed('pfa') }, { needs: [configMap] });
  const picky = adapterOf('picky', {}, { supports: () => 'it keeps only whole namespaces' });
  const binding = clusterBinding('b', { intents: ['pfa'] });

  test.for([
    [{ adapters: [] }, [], 'no adapter supports it'],
    [
      { adapters: [needy, picky], unserved: ['ConfigMap'] },
      ['engine'],
      'adapter engine supports it, but the API server does not serve v1 ConfigMap; adapter picky does not support it: it keeps only whole namespaces',
    ],
    [
      { adapters: [needy], offered: [] },
      ['engine'],
      'adapter engine supports it, but this installation does not offer it (--intent-adapter)',
    ],
    [
      { adapters: [{ ...needy, lacks: () => 'the installation names no image' }] },
      ['engine'],
      'adapter engine supports it, but the installation names no image',
    ],
  ] as const)('%# is unsupported, with what would be needed', ([options, adapters, message]) => {
    const { intents: facts, compiled } = definitionOf(binding, intentContext(intents, options));
    expect(facts.unsupported).toEqual([{ intent: 'pfa', id: 'exploitPFA', adapters, message }]);
    expect(facts.bound).toEqual(['pfa']);
    expect(compiled.contents).toEqual([]);
  });

  it('virtualPatch says that it needs a feed', () => {
    const { intents: facts } = definitionOf(
      clusterBinding('b', { intents: ['patch'] }),
      intentContext(intents),
    );
    expect(facts.unsupported).toMatchObject([{ id: 'virtualPatch', adapters: [] }]);
    expect(facts.unsupported[0]?.message).toContain('feed');
  });

  it('the rights of authors count an engine that is offered and not served', () => {
    const context = intentContext(intents, { adapters: [needy], unserved: ['ConfigMap'] });
    expect(definitionOf(binding, withAllServed(context)).compiled.contents).toHaveLength(1);
    const notOffered = intentContext(intents, { adapters: [needy], offered: [] });
    expect(definitionOf(binding, withAllServed(notOffered)).compiled.contents).toHaveLength(0);
  });

  it('all adapters that are there keep an intent together', () => {
    const other = adapterOf('other', { pfa: configMapNamed('pfa-2') });
    const { intents: facts } = definitionOf(binding, intentContext(intents, { adapters: [needy, other] }));
    expect(facts.rendered.map(({ adapter, name }) => [adapter, name])).toEqual([
      ['engine', 'pfa'],
      ['other', 'pfa-2'],
    ]);
  });
});

describe('two intents of one binding', () => {
  const label = (value: string, values: readonly string[]): Rendering => ({
    namespaces: { defaults: { labels: { l: value } }, required: { labels: { l: { values } } } },
  });
  const account = (name: string, automount: boolean | undefined, pull: readonly string[]): Rendering => ({
    serviceAccounts: [
      {
        name,
        imagePullSecrets: [...pull],
        ...(automount === undefined ? {} : { automountServiceAccountToken: automount }),
      },
    ],
  });

  test.for([
    ['different defaults of one label', label('x', ['x', 'y']), label('y', ['x', 'y']), 'label l is x or y'],
    [
      'values that exclude each other',
      label('x', ['x']),
      label('x', ['y']),
      'no value of label l satisfies both',
    ],
    [
      'different objects of one name',
      configMapNamed('c', { a: '1' }),
      configMapNamed('c', { a: '2' }),
      'they give different ConfigMaps c',
    ],
    [
      'one object in different namespaces',
      { ...configMapNamed('c'), onlyIn: 'a' },
      { ...configMapNamed('c'), onlyIn: 'b' },
      'they give different ConfigMaps c',
    ],
    [
      'another answer for one ServiceAccount',
      account('default', false, []),
      account('default', true, []),
      'automountServiceAccountToken of ServiceAccount default differs',
    ],
  ] as const)('%s are a problem that names both', ([, one, two, what]) => {
    expect(problemsWith([adapterOf('a', { one, two })], ['one', 'two'])).toEqual([
      `spec.intents[1]: found SecurityIntent two, which contradicts SecurityIntent one: ${what}; accepted: intents that agree, or a binding of its own for each, in other namespaces`,
    ]);
  });

  it('equal objects come once, values intersect, and pull secrets of one ServiceAccount come together', () => {
    const one = {
      ...configMapNamed('c'),
      ...label('x', ['x', 'y']),
      ...account('default', undefined, ['a', 'b']),
    };
    const two = {
      ...configMapNamed('c'),
      ...label('x', ['z', 'x']),
      ...account('default', false, ['b', 'c']),
    };
    const context = intentContext({ one: any, two: any }, { adapters: [adapterOf('a', { one, two })] });
    const { object } = definitionOf(clusterBinding('b', { intents: ['one', 'two'] }), context);
    expect(object.spec.contents).toEqual({
      resources: [{ ...configMap, metadata: { name: 'c' }, data: {} }],
      serviceAccounts: [
        { name: 'default', imagePullSecrets: ['a', 'b', 'c'], automountServiceAccountToken: false },
      ],
    });
    expect(object.spec.namespaces?.required?.labels).toEqual({ l: { values: ['x'] } });
  });
});

it('an object for one namespace is rendered there and nowhere else', () => {
  const adapters = [
    adapterOf('a', { one: { ...configMapNamed('c'), onlyIn: 'tools' }, two: configMapNamed('d') }),
  ];
  const context = intentContext({ one: any, two: any }, { adapters });
  const { compiled } = definitionOf(clusterBinding('b', { intents: ['one', 'two'] }), context);
  const contentKinds = (name: string) =>
    compiled.contents.map((content) =>
      content.render(knownNamespace(name), unlimitedBudget).map(({ kind }) => kind),
    );
  expect(contentKinds('tools')).toEqual([['present'], ['present']]);
  expect(contentKinds('shop')).toEqual([[], ['present']]);
});

it('a problem of what an adapter renders points at the intent', () => {
  const bad: Rendering = { resources: [{ ...configMap, metadata: { name: 'Not A Name' } }] };
  const [problem] = problemsWith([adapterOf('a', { good: configMapNamed('g'), bad })], ['good', 'bad']);
  expect(problem).toMatch(/^spec\.intents\[1\]: /);
});

it('a match condition with a mistake is a problem of the binding', () => {
  const match = { matchConditions: [{ name: 'c', expression: 'nonsense(' }] };
  const load = loadStoredBinding(clusterBinding('b', { match, intents: ['x'] }), intentContext());
  expect(load.ok ? [] : load.problems.map(({ path }) => path)).toEqual([
    ['spec', 'match', 'matchConditions', 0, 'expression'],
  ]);
});

it('no text of an intent is read as a template', () => {
  const text = fc.array(
    fc.constantFrom('$', '{', '}', '${', '$${', 'a', '${namespaceObject.metadata.name}'),
    {
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(text, (parts) => {
      const value = parts.join('');
      // Texts with {{ are refused in defaults, so that no Go template is taken for one of ours.
      const plain = value.replaceAll('{{', '');
      const one: Rendering = {
        ...configMapNamed('c', { text: value }),
        namespaces: { defaults: { annotations: { a: plain } } },
      };
      const context = intentContext({ one: any }, { adapters: [adapterOf('a', { one })] });
      const { compiled, object } = definitionOf(clusterBinding('b', { intents: ['one'] }), context);
      const [rendered] = compiled.contents.flatMap((each) =>
        each.render(knownNamespace('shop'), unlimitedBudget),
      );
      expect(rendered).toMatchObject({ kind: 'present' });
      expect(JSON.stringify(rendered)).toContain(JSON.stringify(value));
      for (const { template } of compiled.namespaceDefaults)
        expect(template.render({})).toEqual({ ok: true, value: plain });
      expect(kinds.NamespacePolicy.parse(object)).toMatchObject({ ok: true });
    }),
  );
});

it('no label of an intent is read as a template', () => {
  const value = '${namespaceObject.metadata.name}';
  const one = { namespaces: { defaults: { labels: { l: value } } } };
  const context = intentContext({ one: any }, { adapters: [adapterOf('a', { one })] });
  const { compiled } = definitionOf(clusterBinding('b', { intents: ['one'] }), context);
  expect(compiled.namespaceDefaults[0]?.template.render({})).toEqual({ ok: true, value });
});

it('no name in the fields of a ServiceAccount is read as a template', () => {
  const one = {
    serviceAccounts: [{ name: 'default', imagePullSecrets: ['${namespaceObject.metadata.name}'] }],
  };
  expect(problemsWith([adapterOf('a', { one })], ['one'])).toEqual([
    expect.stringContaining('spec.intents[0]: found "${namespaceObject.metadata.name}"'),
  ]);
});
