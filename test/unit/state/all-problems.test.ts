// Which problems of an object are found beside those that hide them, and that none is invented.
import { expect, test } from 'vitest';
import { renderPath } from '../../../src/base/problem.ts';
import { loadProvider } from '../../../src/policy/compile/load-provider.ts';
import { allProblems } from '../../../src/state/definitions.ts';

function problemsOf(spec: unknown, metadata: unknown = { name: 'a' }) {
  const value = { apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', metadata, spec };
  const load = (each: unknown) => loadProvider('NamespacePolicy', each);
  const first = load(value);
  if (first.ok) throw new Error('the policy has no problem');
  const { problems, rest } = allProblems(value, first.problems, load);
  return { paths: problems.map(({ path }) => renderPath(path)), hasRest: rest !== undefined };
}

const broken = '(?!x)';
const conditions = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] });

test.each<readonly [string, unknown, readonly string[]]>([
  [
    'an unknown field hides no pattern',
    { suspnd: true, namespaces: { name: { pattern: broken } } },
    ['spec.suspnd', 'spec.namespaces.name.pattern'],
  ],
  [
    'a wrong item hides no item before it',
    {
      validations: [
        { name: 'v', expression: '1 +', message: 'm' },
        { name: 'w', message: 'm' },
      ],
    },
    ['spec.validations[1].expression', 'spec.validations[0].expression'],
  ],
  [
    'several wrong items of a list do not hide the fields beside the list',
    { match: { names: [1, 2, 3], ...conditions('1 +') } },
    [
      'spec.match.names[0]',
      'spec.match.names[1]',
      'spec.match.names[2]',
      'spec.match.matchConditions[0].expression',
    ],
  ],
  [
    'a wrong expression hides no contradiction',
    {
      match: { namespaceSelector: { matchLabels: { team: 'x' } }, ...conditions('1 +') },
      namespaces: { defaults: { labels: { team: 'x' } } },
    },
    ['spec.match.matchConditions[0].expression', 'spec.namespaces.defaults.labels.team'],
  ],
  [
    'a field that a wrong field leaves alone is not reported as missing',
    { contents: { roleBindings: [{ name: 'a', roleRef: 5, subjects: [{ kind: 'Group', name: 'g' }] }] } },
    ['spec.contents.roleBindings[0].roleRef'],
  ],
  [
    'an exception from a wrong rule is not reported as unknown',
    {
      validations: [{ name: 'v', expression: 5, message: 'm' }],
      exceptions: [{ namespaces: ['a'], rules: ['validations/v'], reason: 'r' }],
    },
    ['spec.validations[0].expression'],
  ],
  [
    'a default is not compared with values of which one is wrong',
    {
      namespaces: {
        defaults: { labels: { env: 'dev' } },
        required: { labels: { env: { values: ['prod', '!', 'dev'] } } },
      },
    },
    ['spec.namespaces.required.labels.env.values[1]'],
  ],
])('%s', (_title, spec, paths) => {
  expect(problemsOf(spec)).toEqual({ paths, hasRest: true });
});

test.each([[5], [[]], ['x']])('nothing is left of an object with the spec %j', (spec) => {
  expect(problemsOf(spec)).toEqual({ paths: ['spec'], hasRest: false });
});

test('nothing is left of an object without a valid name', () => {
  const { paths, hasRest } = problemsOf({ suspnd: true }, { name: 'A_' });
  expect([paths, hasRest]).toEqual([['metadata.name', 'spec.suspnd'], false]);
});
