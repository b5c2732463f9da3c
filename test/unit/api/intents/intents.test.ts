// The kinds of intents: what parses to what, and what is refused.
import { kinds } from '../../../../src/api/kinds.ts';
import { describe, expect, expectTypeOf, it, test } from 'vitest';
import type { ClusterIntentBindingSpec } from '../../../../src/api/intents/cluster-intent-binding.ts';
import { knownIntents, paramFields } from '../../../../src/api/intents/intent-ids.ts';
import type { SecurityIntentSpec } from '../../../../src/api/intents/security-intent.ts';
import type { MatchSpec } from '../../../../src/api/namespace-policy/namespace-policy.ts';
import { renderProblem, type Problem } from '../../../../src/base/problem.ts';
import { acceptedBindings, acceptedIntents, refusedBindings, refusedIntents } from './intent-cases.ts';

const apiVersion = 'reeve.dev/v1alpha1';
const intent = (spec: unknown, name = 'test'): object => ({
  apiVersion,
  kind: 'SecurityIntent',
  metadata: { name },
  spec,
});
const binding = (spec: unknown): object => ({
  apiVersion,
  kind: 'SecurityIntentBinding',
  metadata: { name: 'test', namespace: 'shop' },
  spec,
});
const clusterBinding = (spec: unknown): object => ({
  apiVersion,
  kind: 'ClusterSecurityIntentBinding',
  metadata: { name: 'test' },
  spec,
});

type Parsed = { readonly ok: true } | { readonly ok: false; readonly problems: readonly Problem[] };

function problemsOf(parsed: Parsed): readonly string[] {
  return parsed.ok ? [] : parsed.problems.map(renderProblem);
}

const shared = { deletionPolicy: 'Delete', maxDeletions: 20, suspend: false };

describe('the parser of intents', () => {
  it('the parser blocks with low severity where the intent says nothing', () => {
    const id = 'escapeToHost';
    const expected = { id, action: 'Block', severity: 'Low' };
    expect(kinds.SecurityIntent.parse(intent({ id }))).toEqual({ ok: true, value: intent(expected) });
  });

  it('the parser reports the id, the params and all other fields at once', () => {
    const spec = { id: 'escapeToHots', action: 'x', params: { psaLvl: 1, namespace: '-' } };
    const problems = problemsOf(kinds.SecurityIntent.parse(intent(spec, 'No_Name')));
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'spec.id',
      'metadata.name',
      'spec.action',
      'spec.params.namespace',
      'spec.params.psaLvl',
    ]);
  });

  it('the parser refuses a hostile key in params', () => {
    const params: unknown = JSON.parse('{"__proto__": 1}');
    expect(problemsOf(kinds.SecurityIntent.parse(intent({ id: 'escapeToHost', params })))).toEqual([
      'spec.params.__proto__: found an unknown field; accepted: psaLevel',
    ]);
  });

  it('each param belongs to an id', () => {
    const used = new Set<string>(Object.values(knownIntents).flatMap(({ params }) => params));
    expect(Object.keys(paramFields).filter((name) => !used.has(name))).toEqual([]);
  });

  it('the description of each param names its ids', () => {
    for (const [id, { params }] of Object.entries(knownIntents)) {
      for (const name of params)
        expect(paramFields[name].description, name).toMatch(new RegExp(`For .*${id}`));
    }
  });
});

describe('the parsers of bindings', () => {
  it('the parser sets the defaults of a binding', () => {
    expect(kinds.SecurityIntentBinding.parse(binding({ intents: ['a'] }))).toEqual({
      ok: true,
      value: binding({ intents: ['a'], ...shared }),
    });
    expect(kinds.ClusterSecurityIntentBinding.parse(clusterBinding({ intents: ['a'] }))).toEqual({
      ok: true,
      value: clusterBinding({ intents: ['a'], ...shared }),
    });
  });

  it('a binding without a namespace is refused, and so is one with match', () => {
    const object = { ...binding({ intents: ['a'], match: {} }), metadata: { name: 'test' } };
    expect(problemsOf(kinds.SecurityIntentBinding.parse(object))).toEqual([
      expect.stringContaining('metadata.namespace: found nothing'),
      expect.stringContaining('spec.match: found an unknown field'),
    ]);
  });

  it('a cluster binding is checked like the match of a policy', () => {
    const spec = { intents: ['a'], match: { names: [], namespaceSelector: { matchLabels: { 'a b': 'c' } } } };
    expect(problemsOf(kinds.ClusterSecurityIntentBinding.parse(clusterBinding(spec)))).toHaveLength(2);
  });

  it('all conditions that are refused are reported at once, each with its place', () => {
    const cel = ['labels.a.contains("x") && labels.b == 1', 'has(labels.c)', 'labels.d || labels.e'];
    const parsed = kinds.SecurityIntentBinding.parse(binding({ intents: ['a'], workloads: { cel } }));
    expect(parsed.ok ? [] : parsed.problems.map(({ path, offset }) => [path.at(-1), offset])).toEqual([
      [0, 8],
      [0, 35],
      [2, 9],
    ]);
  });

  it('the parser keeps a valid status and drops an invalid one', () => {
    const status = {
      intents: 2,
      boundIntents: ['a', 'b'],
      rendered: [{ adapter: 'network', intent: 'a', kind: 'NetworkPolicy', name: 'a' }],
      unsupported: [{ intent: 'b', id: 'virtualPatch', adapters: [], message: 'no feed' }],
      matched: 1,
      desired: 1,
      violations: 0,
    };
    const given = { ...binding({ intents: ['a', 'b'] }), status };
    expect(kinds.SecurityIntentBinding.parse(given)).toMatchObject({ ok: true, value: { status } });
    const wrong = kinds.SecurityIntentBinding.parse({ ...given, status: { intents: 'many' } });
    expect(wrong.ok && Object.hasOwn(wrong.value, 'status')).toBe(false);
  });
});

describe.each([
  ['an intent', kinds.SecurityIntent.parse, intent],
  ['a binding', kinds.SecurityIntentBinding.parse, binding],
  ['a cluster binding', kinds.ClusterSecurityIntentBinding.parse, clusterBinding],
] as const)('%s', (_kind, parse, object) => {
  const [accepted, refused] =
    object === intent ? [acceptedIntents, refusedIntents] : [acceptedBindings, refusedBindings];

  it.each(accepted)('%s is accepted', (_title, spec) => {
    expect(problemsOf(parse(object(spec)))).toEqual([]);
  });

  it.each(refused)('%s is refused', (_title, spec, part) => {
    expect(problemsOf(parse(object(spec)))).toEqual([expect.stringContaining(part)]);
  });

  it.each([undefined, null, 5, 'text', [], {}, Object.create(null)])(
    'the parser refuses %o without throwing',
    (value) => {
      expect(parse(value).ok).toBe(false);
    },
  );
});

test('fields with a default are never undefined in the type', () => {
  expectTypeOf<SecurityIntentSpec['action']>().toEqualTypeOf<'Block' | 'Audit' | 'Warn'>();
  expectTypeOf<SecurityIntentSpec['id']>().toEqualTypeOf<keyof typeof knownIntents>();
  expectTypeOf<ClusterIntentBindingSpec['suspend']>().toEqualTypeOf<boolean>();
  expectTypeOf<NonNullable<ClusterIntentBindingSpec['match']>>().toEqualTypeOf<MatchSpec>();
});
