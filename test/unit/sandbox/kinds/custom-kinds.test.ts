import { expect, test } from 'vitest';
import { crdOf, kindDefinitions } from '../../../../src/api/kinds.ts';
import { unknownFields } from '../../../../src/sandbox/kinds/causes.ts';
import { causesOf, kindNamed, now, prepared } from './served.ts';

const spec = { source: { namespace: 'a', name: 'b' }, targets: { names: ['c'] } };
const typed = { apiVersion: 'reeve.dev/v1alpha1' };

test('defaults are set and unknown fields are dropped', () => {
  const object = { spec: { ...spec, target: {}, foo: 1 }, bar: 2, status: { desired: 1, x: 1 } };
  expect(prepared('SecretShare', object)).toStrictEqual({
    metadata: { name: 'a', generation: 1 },
    spec: {
      ...spec,
      target: { type: '', immutable: false },
      deletionPolicy: 'Delete',
      maxDeletions: 20,
      suspend: false,
    },
    status: { desired: 1 },
  });
});

test.for([
  [{}, ['Required spec']],
  [
    { spec: { ...spec, maxDeletions: -1, suspend: 'x', deletionPolicy: 'Foo' } },
    ['NotSupported spec.deletionPolicy', 'Invalid spec.maxDeletions', 'TypeInvalid spec.suspend'],
  ],
  [
    { spec: { ...spec, targets: { names: [5, ''] } } },
    ['TypeInvalid spec.targets.names[0]', 'Invalid spec.targets.names[1]'],
  ],
  [{ spec: { ...spec, targets: {} } }, ['Invalid spec.targets']],
  [{ spec: { ...spec, target: { keys: [{ from: 'a' }] } } }, ['Required spec.target.keys[0].to']],
  [
    {
      spec: {
        ...spec,
        target: {
          keys: [
            { from: 'a', to: 'b' },
            { from: 'c', to: 'b' },
          ],
        },
      },
    },
    ['Invalid spec.target.keys[1].to'],
  ],
  [
    { spec: { ...spec, target: { labels: { 'reeve.dev/x': 'y' } } } },
    ['Invalid spec.target.labels[reeve.dev/x]'],
  ],
  [{ spec, status: { desired: 'x' } }, ['TypeInvalid status.desired']],
] as const)('the causes of the SecretShare %j are %j', ([object, causes]) => {
  expect(causesOf('SecretShare', { ...typed, ...object })).toStrictEqual(causes);
});

test('a name longer than the definition permits is refused', () => {
  expect(causesOf('SecretShare', { metadata: { name: 'a'.repeat(64) }, spec })).toStrictEqual([
    'Invalid metadata.name',
  ]);
});

test.for([
  [
    'SecretShare',
    { metadata: { name: 'a', foo: 1 }, spec: { source: { foo: 1 }, target: { keys: [{ bar: 1 }] } }, bar: 1 },
    ['metadata.foo', 'spec.source.foo', 'spec.target.keys[0].bar', 'bar'],
  ],
  [
    'Secret',
    { metadata: { ownerReferences: [{ foo: 1 }] }, spec: {}, data: { anything: '' } },
    ['metadata.ownerReferences[0].foo', 'spec'],
  ],
  ['Role', { rules: [{ foo: 1, verbs: [] }] }, ['rules[0].foo']],
  ['Namespace', JSON.parse('{"__proto__": {}, "constructor": 1}') as object, ['__proto__', 'constructor']],
] as const)('the unknown fields of the %s %j are %j', ([kind, object, paths]) => {
  expect(unknownFields(kindNamed(kind), object).map(({ path }) => path)).toStrictEqual(paths);
});

test.for([
  ['Matched', { status: { matched: 3 } }, 3],
  ['Matched', {}, ''],
  ['Actions', { spec: { validationActions: ['Deny'] } }, '["Deny"]'],
  [
    'Ready',
    {
      status: {
        conditions: [
          { type: 'X', status: 'True' },
          { type: 'Ready', status: 'False' },
        ],
      },
    },
    'False',
  ],
  ['Ready', { status: { conditions: [] } }, ''],
] as const)('the column %s of %j is %j', ([name, object, cell]) => {
  const column = kindNamed('NamespacePolicy').columns.find((one) => one.name === name);
  expect(column?.cell({ metadata: {}, ...object })).toBe(cell);
});

test.for(kindDefinitions)('the definition of the kind $kind is established at once', (definition) => {
  const stored = prepared('CustomResourceDefinition', crdOf(definition));
  const types = { NamesAccepted: 'NoConflicts', Established: 'InitialNamesAccepted' };
  expect(stored['status']).toMatchObject({
    conditions: Object.entries(types).map(([type, reason]) => ({ type, reason, status: 'True' })),
    storedVersions: ['v1alpha1'],
  });
  expect(stored.metadata['generation']).toBe(1);
});

test('definitions of other kinds are not served', () => {
  const foreign = { metadata: { name: 'a.b' }, spec: { group: 'b', names: { plural: 'a' } } };
  expect(() => kindNamed('CustomResourceDefinition').rules.prepare(foreign, undefined, now)).toThrow(
    'not served',
  );
});

test.each([
  ['SecretShare', { spec: { suspended: true } }, 'spec.suspend'],
  ['SecretShare', { spec: { target: { keys: [{ frm: 'a' }] } } }, 'spec.target.keys[0].from'],
  ['SecretShare', { spec: { other: 1 } }, undefined],
  ['NamespacePolicy', { spec: { nmaespaces: {} } }, 'spec.namespaces'],
  ['ConfigMap', { metadta: {} }, 'metadata'],
] as const)(
  'the known field that is similar to the unknown one in the %s %j is %s',
  (kind, object, similar) => {
    expect(unknownFields(kindNamed(kind), object)).toMatchObject([{ similar }]);
  },
);
