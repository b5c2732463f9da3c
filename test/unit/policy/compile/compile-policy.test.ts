import { describe, expect, test } from 'vitest';
import { aPolicy, problemsOf } from '../../../support/engine.ts';

test('a policy with nothing in it is a policy for every namespace', () => {
  expect(problemsOf('p', {})).toEqual([]);
  expect(aPolicy('p', {})).toMatchObject({
    name: 'p',
    actions: ['Deny'],
    contents: [],
    rules: { namespaces: [] },
  });
});

describe('a contradictory policy is refused with every reason', () => {
  test.for([
    [
      'a default for a label of its own selector',
      {
        match: { namespaceSelector: { matchLabels: { tier: 'a' } } },
        namespaces: { defaults: { labels: { tier: 'a' } } },
      },
      ['spec.namespaces.defaults.labels.tier: found a default for the label tier'],
    ],
    [
      'the same in an expression',
      {
        match: { namespaceSelector: { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] } },
        namespaces: { defaults: { labels: { tier: 'a' } } },
      },
      ['spec.namespaces.defaults.labels.tier'],
    ],
    [
      'a default that its own rule refuses',
      {
        namespaces: {
          required: { labels: { env: { values: ['dev'] } } },
          defaults: { labels: { env: 'prod' } },
        },
      },
      ['spec.namespaces.defaults.labels.env: found "prod"'],
    ],
    [
      'an empty default for a required key',
      { namespaces: { required: { annotations: { a: {} } }, defaults: { annotations: { a: '' } } } },
      ['spec.namespaces.defaults.annotations.a: found ""'],
    ],
    [
      'a pattern that does not compile',
      { namespaces: { name: { pattern: '(' } } },
      ['spec.namespaces.name.pattern'],
    ],
    [
      'a pattern that only backtracking could decide',
      { namespaces: { required: { labels: { a: { pattern: '(a)\\1' } } } } },
      ['spec.namespaces.required.labels.a.pattern'],
    ],
    [
      'expressions and patterns that do not compile, all at once',
      {
        match: { matchConditions: [{ name: 'm', expression: 'object.x' }] },
        namespaces: { name: { pattern: '[' } },
        validations: [{ name: 'v', expression: '1 +', messageExpression: 'nothing' }],
      },
      [
        'spec.namespaces.name.pattern',
        'spec.validations[0].expression',
        'spec.validations[0].messageExpression',
        'spec.match.matchConditions[0].expression',
      ],
    ],
    [
      'a contradiction beside something that does not compile',
      {
        namespaces: {
          required: { labels: { team: { pattern: '^a$' }, env: { pattern: '(' } } },
          defaults: { labels: { team: 'b', env: '${nobody}' } },
        },
      },
      [
        'spec.namespaces.required.labels.env.pattern',
        'spec.namespaces.defaults.labels.env',
        'spec.namespaces.defaults.labels.team',
      ],
    ],
    [
      'an exception from a validation that does not exist',
      {
        validations: [{ name: 'a', expression: 'true' }],
        exceptions: [{ namespaces: ['n'], rules: ['validations/b'] }],
      },
      ['spec.exceptions[0].rules[0]: found "validations/b"'],
    ],
    [
      'an exception from a content that the policy does not have',
      {
        contents: { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'readme' } }] },
        exceptions: [{ namespaces: ['n'], contents: ['ConfigMap/readme', 'ConfigMap/raedme'] }],
      },
      [
        'spec.exceptions[0].contents[1]: found "ConfigMap/raedme"; accepted: ConfigMap/readme (did you mean ConfigMap/readme?)',
      ],
    ],
    [
      'an exception from contents of a policy without any',
      { exceptions: [{ namespaces: ['n'], contents: ['ConfigMap/readme'] }] },
      [
        'spec.exceptions[0].contents[0]: found "ConfigMap/readme"; accepted: nothing: the policy has no contents',
      ],
    ],
    [
      'a template that sees more than it may',
      { secrets: { defaults: { labels: { a: '${object.metadata.name}' } } } },
      ['spec.secrets.defaults.labels.a'],
    ],
    [
      'a default that reads the object through the request',
      { namespaces: { defaults: { labels: { a: '${request.object.metadata.name}' } } } },
      ['spec.namespaces.defaults.labels.a'],
    ],
    [
      'contents that read the request',
      {
        contents: {
          roleBindings: [
            {
              name: '${request.name}',
              roleRef: { kind: 'ClusterRole', name: 'edit' },
              subjects: [{ kind: 'Group', name: 'g' }],
            },
          ],
        },
      },
      ['spec.contents.roleBindings[0].name'],
    ],
  ] as const)('%s', ([, spec, beginnings]) => {
    const problems = problemsOf('p', spec);
    expect(problems).toHaveLength(beginnings.length);
    for (const beginning of beginnings)
      expect(
        problems.some((problem) => problem.startsWith(beginning)),
        problems.join('\n'),
      ).toBe(true);
  });
});

test('a default for an annotation, and a default with an expression, contradict nothing at compile time', () => {
  expect(
    problemsOf('p', {
      match: { namespaceSelector: { matchLabels: { tier: 'a' } } },
      namespaces: {
        required: { labels: { env: { values: ['dev'] }, zone: { values: ['a'] } } },
        defaults: {
          annotations: { tier: 'a' },
          labels: { env: '${namespaceObject.metadata.name}', zone: '${"b"}' },
        },
      },
    }),
  ).toEqual([]);
});
