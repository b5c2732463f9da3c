// Tests that a misspelled field of `namespaceObject` is found when a policy is loaded.
import { expect, test } from 'vitest';
import { compileExpression, type ExpressionResult } from '../../../../src/cel/expression.ts';

const namespaceObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: 'team-blue',
    uid: 'u1',
    generation: 1,
    creationTimestamp: '2026-11-21T12:00:00Z',
    labels: { team: 'blue' },
    annotations: { 'example.com/owners': 'jane,joe' },
    finalizers: ['example.com/a'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u2', controller: true }],
  },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active', conditions: [{ type: 'reeve.dev/Ready', status: 'True' }] },
};

function compile(source: string): ExpressionResult {
  return compileExpression(source, { variables: ['namespaceObject'] }, 'bool');
}

test.each([
  'namespaceObject.metadata.name == "team-blue" && namespaceObject.metadata.uid == "u1"',
  'namespaceObject.metadata.labels.team == "blue" && namespaceObject.metadata.labels["team"] == "blue"',
  'namespaceObject.metadata.annotations["example.com/owners"].split(",")[1] == "joe"',
  '"team" in namespaceObject.metadata.labels && !("x" in namespaceObject.metadata.labels)',
  'namespaceObject.metadata.?labels.?team.orValue("") == "blue"',
  'namespaceObject.metadata.labels[?"x"].orValue("none") == "none"',
  'has(namespaceObject.metadata.annotations) && !has(namespaceObject.metadata.deletionTimestamp)',
  'timestamp(namespaceObject.metadata.creationTimestamp) < timestamp("2027-01-01T00:00:00Z")',
  'namespaceObject.metadata.generation == 1',
  'namespaceObject.metadata.finalizers == ["example.com/a"]',
  'namespaceObject.metadata.ownerReferences.exists(o, o.kind == "ConfigMap" && o.controller)',
  'namespaceObject.spec.finalizers[0] == "kubernetes" && namespaceObject.status.phase == "Active"',
  'namespaceObject.status.conditions.exists(c, c.type == "reeve.dev/Ready" && c.status == "True")',
  'namespaceObject.metadata.labels.all(key, value, key.size() + value.size() > 0)',
  'namespaceObject != null',
])('%s is true', (source) => {
  const result = compile(source);
  expect(result.ok ? result.expression.evaluate({ namespaceObject }) : result.problem).toEqual({
    ok: true,
    value: true,
  });
});

const metadata = 'a value of type kubernetes.NamespaceMetadata has no field';

test.each([
  ['namespaceObject.metadata.annotatons["x"] == ""', `${metadata} annotatons; did you mean annotations?`],
  ['namespaceObject.metadata.label.team == ""', `${metadata} label; did you mean labels?`],
  ['has(namespaceObject.metadata.Labels)', `${metadata} Labels; did you mean labels?`],
  ['namespaceObject.metadata.?annotation.x.hasValue()', `${metadata} annotation; did you mean annotations?`],
  [
    'namespaceObject.metadta.name == ""',
    'a value of type kubernetes.Namespace has no field metadta; did you mean metadata?',
  ],
  [
    'namespaceObject.labels.team == ""',
    'a value of type kubernetes.Namespace has no field labels; it has metadata, spec, status',
  ],
  ['namespaceObject["metadata"].name == ""', 'a kubernetes.Namespace cannot be indexed by a string'],
  ['namespaceObject.metadata.labels.team == 1', '_==_ does not exist for (string, int)'],
])('%s does not compile: %s', (source, message) => {
  expect(compile(source)).toMatchObject({ ok: false, problem: { message } });
});

test('the labels and annotations that an expression looks up are known', () => {
  const result = compile(
    'namespaceObject.metadata.labels.team + namespaceObject.metadata.?annotations["a/b"].orValue("") + namespaceObject.metadata.labels[namespaceObject.metadata.name] == ""',
  );
  expect(result.ok && result.expression.lookups).toEqual([
    { field: 'labels', key: 'team' },
    { field: 'annotations', key: 'a/b' },
  ]);
});
