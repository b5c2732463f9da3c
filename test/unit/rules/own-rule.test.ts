// A rule in a list of its own: everything that people read of rules derives from the list.
import { describe, expect, expectTypeOf, test } from 'vitest';
import type { PolicyDefinition } from '../../../src/policy/compile/load-provider.ts';
import { explainedPolicy } from '../../../src/inspect/explain/namespace-rules.ts';
import type { LookedAt } from '../../../src/inspect/explain/looked-at.ts';
import { Coverage } from '../../../src/inspect/suites/run-suites.ts';
import { examplesOf } from '../../../src/inspect/suites/first-suite.ts';
import { compileRules, blockFields, rules, type ListedRule } from '../../../src/rules/rules.ts';
import { everyOperation, ruleForm, type Rule, type RuleForm } from '../../../src/rules/rule.ts';
import { object, text, type TextSchema } from '../../../src/schema/schema.ts';
import { toOpenApi } from '../../../src/schema/openapi.ts';
import { kindPage } from '../../checks/reference/kind-page.ts';
import { aPolicy } from '../../support/engine.ts';

const prefix = ruleForm({
  id: 'secrets.prefix',
  judges: 'secrets',
  field: text({ description: 'What each name begins with.', maxLength: 9 }),
  operations: everyOperation,
  compile: (start) => ({
    shape: 'state',
    graced: true,
    judge: ({ metadata: { name = '' } }) =>
      name.startsWith(start)
        ? []
        : [{ path: 'metadata.name', found: name, accepted: `${start}…`, identity: name }],
    compared: ({ metadata: { name = '' } }) => [
      { path: 'metadata.name', found: name, accepted: `${start}…` },
    ],
  }),
  examples: (start) => ({ writes: [{ title: `that begins with ${start}`, object: { type: start } }] }),
});

const listed = [prefix as RuleForm as ListedRule];
const spec = { secrets: { prefix: 'team-' } };
const compiledRules = compileRules(
  spec,
  { variables: [], cluster: undefined, compiled: { nodes: 0 } },
  listed,
).on;
const compiled = { ...aPolicy('p', {}), rules: compiledRules };
const block = object({ description: 'Rules on Secrets.', fields: blockFields('secrets', [prefix]) });

test('the CRD has the field of the rule', () => {
  expect(toOpenApi(block).properties).toEqual({
    prefix: { type: 'string', description: 'What each name begins with.', maxLength: 9 },
  });
});

test('the reference has a row for the field of the rule', () => {
  const schemas = {
    description: 'A policy.',
    spec: object({ description: 'Rules.', fields: { secrets: block } }),
  };
  const written = kindPage({ title: 'Policies', schemas, columns: [], see: '' });
  expect(written).toContain('### `spec.secrets`');
  expect(written).toMatch(/`prefix`.*What each name begins with\./);
});

test('an explanation of a namespace has the rule, and one of a request what it compared', () => {
  const definition = { kind: 'NamespacePolicy', compiled, object: { metadata: { name: 'p' }, spec } };
  const at = { now: new Date(0) } as LookedAt;
  const { rulesIn } = explainedPolicy(definition as unknown as PolicyDefinition, at);
  const rows = rulesIn({ metadata: { name: 'team-a' } });
  expect(rows.map(({ rule, message }) => `${rule}: ${message ?? ''}`)).toEqual([
    'secrets.prefix: judged when a Secret is written',
  ]);
  const write = { operation: 'CREATE', username: 'alice' } as const;
  expect(compiledRules.secrets[0]?.compared({ metadata: { name: 'team-x' } }, write)).toEqual([
    { path: 'metadata.name', found: 'team-x', accepted: 'team-…' },
  ]);
});

test('coverage counts the rule', () => {
  const coverage = new Coverage();
  coverage.add(compiled);
  expect(coverage.gaps()).toEqual([{ policy: 'p', rule: 'secrets.prefix', gap: 'never evaluated' }]);
});

test('a first suite tries the examples of the rule', () => {
  const policy = { kind: 'NamespacePolicy', compiled, object: { spec } } as unknown as PolicyDefinition;
  expect(examplesOf(policy, [policy], listed).map(({ title }) => title)).toEqual([
    'creating Namespace example that NamespacePolicy/p matches',
    'creating a Secret in Namespace example',
    'creating a Secret that begins with team- in Namespace example',
  ]);
});

test('no two listed rules have one id', () => {
  const ids = rules.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

describe('the compiler', () => {
  type Own = RuleForm<'secrets.prefix', TextSchema>;

  test('each part of a rule is needed', () => {
    expectTypeOf<Own>().toExtend<RuleForm>();
    expectTypeOf<Omit<Own, 'id'>>().not.toExtend<RuleForm>();
    expectTypeOf<Omit<Own, 'field'>>().not.toExtend<RuleForm>();
    expectTypeOf<Omit<Own, 'judges'>>().not.toExtend<RuleForm>();
    expectTypeOf<Omit<Own, 'operations'>>().not.toExtend<RuleForm>();
    expectTypeOf<Omit<Own, 'compile'>>().not.toExtend<RuleForm>();
    expectTypeOf<Omit<Own, 'examples'>>().not.toExtend<RuleForm>();
    expectTypeOf<Omit<Extract<Rule, { readonly shape: 'state' }>, 'judge'>>().not.toExtend<Rule>();
    expectTypeOf<Omit<Extract<Rule, { readonly shape: 'state' }>, 'compared'>>().not.toExtend<Rule>();
    expectTypeOf<Omit<Extract<Rule, { readonly shape: 'step' }>, 'compared'>>().not.toExtend<Rule>();
  });
});
