// What managedFields say: whether a value that differs was changed by another client, and which fields are Reeve's.
import { expect, test } from 'vitest';
import { fieldsOfReeve, holdsAll, ownPart } from '../../../src/inspect/plan/step-rows.ts';

const quotaFields = { 'f:spec': { 'f:hard': { 'f:pods': {}, 'f:requests.cpu': {} } } };
const portFields = {
  'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {}, 'f:name': {} } },
};

function managed(...entries: readonly object[]) {
  return { apiVersion: 'v1', kind: 'X', metadata: { name: 'x', managedFields: entries } };
}

test('the fields of Reeve are those that its field manager has applied', () => {
  const other = { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:data': {} } };
  const status = { manager: 'reeve', operation: 'Apply', subresource: 'status', fieldsV1: {} };
  const own = { manager: 'reeve', operation: 'Apply', fieldsV1: quotaFields };
  expect(fieldsOfReeve(managed(other, status, own))).toEqual(quotaFields);
});

test('the fields of Reeve are unknown for an object that was read without managers', () => {
  expect(fieldsOfReeve({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' } })).toBeUndefined();
  expect(fieldsOfReeve(managed())).toBeUndefined();
});

test.each([
  [
    'all fields are in the set',
    quotaFields,
    { spec: { hard: { pods: '5', 'requests.cpu': '1000m' } } },
    true,
  ],
  [
    'another client took a field',
    { 'f:spec': { 'f:hard': { 'f:pods': {} } } },
    { spec: { hard: { cpu: '1' } } },
    false,
  ],
  ['a list is owned as a whole', { 'f:list': {} }, { list: [{ any: 1 }] }, true],
  [
    'an item is selected by its keys',
    portFields,
    { ports: [{ port: 80, protocol: 'TCP', name: 'a' }] },
    true,
  ],
  ['an item is missing', portFields, { ports: [{ port: 81, protocol: 'TCP' }] }, false],
  [
    'a field of an item was taken',
    portFields,
    { ports: [{ port: 80, protocol: 'TCP', targetPort: 1 }] },
    false,
  ],
  ['an item of a set is there', { 'f:finalizers': { 'v:"a"': {} } }, { finalizers: ['a'] }, true],
  ['null asks for nothing', { 'f:a': {} }, { a: 1, b: null }, true],
  ['a key is one of Object.prototype', { 'f:a': {} }, { constructor: 'x' }, false],
])('where %s, the set holds all that is wanted: %j %j is %s', (_, set, wanted, expected) => {
  expect(holdsAll(set, wanted)).toBe(expected);
});

const live = {
  spec: { hard: { pods: '5', 'requests.cpu': '1', others: '7' }, scopes: ['x'] },
  data: { a: '1' },
};

test('the own part of a live object has the fields that are wanted, and those that Reeve would take back', () => {
  expect(ownPart(live, { spec: { hard: { pods: '6' } } }, quotaFields)).toEqual({
    spec: { hard: { pods: '5', 'requests.cpu': '1' } },
  });
});

test('the own part of a live object has only the wanted fields if nothing is known of managers', () => {
  expect(ownPart(live, { spec: { hard: { pods: '6' } } })).toEqual({ spec: { hard: { pods: '5' } } });
});

test('the own part of a live object leaves out items of a list that others have added', () => {
  const [own, others] = [
    { port: 80, protocol: 'TCP' },
    { port: 81, protocol: 'TCP' },
  ];
  expect(ownPart({ ports: [own, others] }, { ports: [own] }, portFields)).toEqual({ ports: [own] });
});
