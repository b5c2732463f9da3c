// Tests the variables of policies: an expression reads what other expressions stand for.
import { expect, test } from 'vitest';
import {
  compileDefinitions,
  compileExpression,
  type Bindings,
  type Evaluation,
  type ExpressionScope,
} from '../../../src/cel/expression.ts';

const written = [
  { name: 'team', expression: "namespaceObject.metadata.labels['team']" },
  { name: 'upper', expression: "variables.team.replace('a', 'A')" },
  {
    name: 'groups',
    expression: "variables.team.split(',').map(each, each + '-' + variables.cluster.region)",
  },
  { name: 'empty', expression: '[]' },
  { name: 'none', expression: 'null' },
  { name: 'changed', expression: 'object != oldObject' },
  { name: 'deep', expression: '[1, 2].all(a, [3].all(b, a < b))' },
];
const cluster = { region: 'eu', 'cluster.clusterset.k8s.io': 'prod-1' };
const { definitions, problems } = compileDefinitions(written, cluster);
const scope: ExpressionScope = { variables: ['namespaceObject', 'item'], definitions };
const withTeam = { namespaceObject: { metadata: { name: 'a', labels: { team: 'a,b' } } } };

function evaluated(source: string, bindings: Bindings = withTeam): Evaluation {
  const compiled = compileExpression(source, scope, 'bool');
  if (!compiled.ok) throw new Error(compiled.problem.message);
  return compiled.expression.evaluate(bindings);
}

test.each([
  'variables.team == "a,b"',
  'variables.upper == "A,b"',
  'variables.groups == ["a-eu", "b-eu"]',
  '["x"].all(each, variables.groups.size() == 2 && each == "x")',
  'variables.empty == [] && variables.none == null && variables.none == variables.none',
  'has(variables.team) && has(variables.cluster.region)',
  'variables.?team.orValue("") == "a,b" && variables.?groups[?5].orValue("none") == "none"',
  'variables.cluster["cluster.clusterset.k8s.io"] == "prod-1" && variables.cluster["region"] == "eu"',
  '[namespaceObject].all(variables, variables.metadata.name == "a")',
  '[1].all(a, [2].all(b, variables.deep && a < b))',
])('%s is true', (source) => {
  expect(evaluated(source)).toEqual({ ok: true, value: true });
});

test('a variable of a missing label is missing, and the expression that reads it looks up the label', () => {
  const compiled = compileExpression('variables.upper == ""', scope, 'bool');
  expect(compiled.ok && compiled.expression.lookups).toEqual([{ field: 'labels', key: 'team' }]);
  expect(compiled.ok && [...compiled.expression.reads]).toEqual(['namespaceObject']);
  expect(evaluated('variables.upper == ""', { namespaceObject: { metadata: { name: 'a' } } })).toMatchObject({
    ok: false,
    reason: 'missing',
  });
});

test('a variable is evaluated only if it is read, and once', () => {
  expect(evaluated('true || variables.team == ""', {})).toEqual({ ok: true, value: true });
  const costOf = (source: string): number => {
    const compiled = compileExpression(source, scope, 'bool');
    let cost = 0;
    if (compiled.ok) compiled.expression.evaluate(withTeam, { spend: (units) => (cost += units) });
    return cost;
  };
  const once = costOf('variables.groups == [] || true');
  const twice = costOf('variables.groups == [] || variables.groups == []');
  expect(twice - once).toBeLessThan(once / 2);
});

test.each([
  ['variables.teams == ""', 'no variable teams is defined before; did you mean team?'],
  [
    'has(variables.nowhere)',
    'no variable nowhere is defined before; there are team, upper, groups, empty, none, changed, deep, cluster',
  ],
  [
    'variables.cluster.regoin == ""',
    'a value of type variables.cluster has no field regoin; did you mean region?',
  ],
  ['variables.cluster["zone"] == ""', 'a value of type variables.cluster has no field zone; it has'],
  ['variables == {}', 'of variables only single fields can be read'],
  ['variables["team"] == ""', 'of variables only single fields can be read'],
  ['variables.changed', 'variables.changed cannot be read here: there is no variable object here'],
  ['variables.team + 1 == ""', '_+_ does not exist for (string, int)'],
])('%s does not compile', (source, message) => {
  const compiled = compileExpression(source, scope, 'bool');
  expect(compiled.ok ? '' : compiled.problem.message).toContain(message);
});

test('variables see those before them, no item of a list, and each problem is found once', () => {
  expect(problems.size).toBe(0);
  const wrong = compileDefinitions(
    [
      { name: 'first', expression: 'variables.second' },
      { name: 'second', expression: 'item' },
      { name: 'third', expression: 'variables.second + 1' },
    ],
    cluster,
  );
  expect(Array.from(wrong.problems, ([index, { message }]) => [index, message])).toEqual([
    [0, expect.stringContaining('no variable second is defined before')],
    [1, expect.stringContaining('item')],
  ]);
});

test('a variable that doubles the one before thirty times compiles and is evaluated in little work', () => {
  const doubled = Array.from({ length: 30 }, (_, index) => ({
    name: `v${index}`,
    expression: index === 0 ? '1' : `variables.v${index - 1} + variables.v${index - 1}`,
  }));
  const compiled = compileExpression(
    `variables.v29 == ${2 ** 29}`,
    { variables: [], definitions: compileDefinitions(doubled, undefined).definitions },
    'bool',
  );
  let cost = 0;
  expect(compiled.ok && compiled.expression.evaluate({}, { spend: (units) => (cost += units) })).toEqual({
    ok: true,
    value: true,
  });
  expect(cost).toBeLessThan(500);
});

test('without an install, any variable of the cluster compiles, and reading it is an error', () => {
  const unknown = { variables: [], definitions: compileDefinitions([], undefined).definitions } as const;
  const compiled = compileExpression('variables.cluster.region == "eu"', unknown, 'bool');
  expect(compiled.ok && compiled.expression.evaluate({})).toEqual({
    ok: false,
    reason: 'failed',
    message: 'the variables of the cluster are not known here',
  });
});

test('large variables that are read in many places do not compile', () => {
  const large = Array.from({ length: 50 }, (_, index) => ({
    name: `v${index}`,
    expression: `[${index === 0 ? "''" : `variables.v${index - 1}`}${", '' + ''".repeat(450)}][0]`,
  }));
  const wrong = compileDefinitions(large, undefined);
  expect(wrong.problems.size).toBeGreaterThan(0);
  expect([...wrong.problems.values()][0]?.message).toContain('too large variables in too many places');
});
