// What stays of an adopted object that is given back, and how its managedFields are rewritten for that.
import { expect, test } from 'vitest';
import { secretObjectType } from '../../../../src/base/object-type.ts';
import {
  asApplied,
  givenBackNote,
  remaindersOf,
  replacedNote,
} from '../../../../src/policy/plan/remainder.ts';

const secret = (type: string, more: object = {}) => ({ kind: 'Secret', metadata: {}, type, ...more });

test.each([
  [
    'a RoleBinding keeps its roleRef',
    { kind: 'RoleBinding', metadata: {}, roleRef: { name: 'view' } },
    [['roleRef']],
  ],
  ['a NetworkPolicy keeps its rules', { kind: 'NetworkPolicy', metadata: {} }, []],
  ['a ServiceAccount keeps nothing', { kind: 'ServiceAccount', metadata: {} }, [[]]],
  ['an opaque Secret keeps nothing', secret('Opaque'), [[]]],
  [
    'a TLS Secret keeps its keys, emptied',
    secret('kubernetes.io/tls'),
    [[], ['key tls.crt (emptied)', 'key tls.key (emptied)']],
  ],
  ['an immutable Secret keeps its data', secret('Opaque', { immutable: true }), []],
])('%s', (_what, object, expected) => {
  expect(remaindersOf(object).map(({ stays }) => stays)).toEqual(expected);
});

test('the event of a Secret that is given back says which keys are removed, and whether it is empty', () => {
  const why = 'existed before Reeve, so not deleted';
  const lost = 'what it held before its adoption does not come back';
  expect(givenBackNote({ stays: [], removed: [] }).message).toBe(why);
  expect(givenBackNote({ stays: [], removed: ['a', 'b'] }).message).toBe(
    `${why}; removed its keys a, b, so it is empty now; ${lost}`,
  );
  expect(givenBackNote({ stays: ['key b (emptied)'], removed: ['a'] }).message).toBe(
    `${why}; removed its keys a; ${lost}; still there of what Reeve wrote: key b (emptied)`,
  );
});

test('the event of a Secret that adoption deletes and creates again names its old type and keys', () => {
  const facts = {
    binaryKeys: [],
    type: 'kubernetes.io/basic-auth',
    isImmutable: true,
    keys: ['password', 'username'],
    hash: '',
  };
  const live = {
    owner: undefined,
    orphanedFrom: undefined,
    type: secretObjectType,
    content: { kind: 'copy', facts, metadata: {} },
  } as const;
  expect(replacedNote(live).message).toBe(
    'what it held before (type kubernetes.io/basic-auth, keys password, username) does not come back, because it was deleted and created again',
  );
  expect(replacedNote({ ...live, owner: 'SecretShare/r' }).message).toBe('deleted and created again');
});

const entry = (manager: string, operation: string, fieldsV1: object, more: object = {}) => ({
  manager,
  operation,
  fieldsV1,
  ...more,
});

test('what Reeve updated and applied becomes one applied entry, and entries of others stay', () => {
  const theirs = entry('kubectl', 'Update', { 'f:data': { 'f:a': {} } });
  const status = entry('reeve', 'Update', { 'f:status': {} }, { subresource: 'status' });
  const ours = [
    entry('reeve', 'Update', { 'f:data': { 'f:b': {} } }),
    entry('reeve', 'Apply', { 'f:data': { 'f:c': {} }, 'f:type': {} }),
  ];
  const merged = { 'f:data': { 'f:b': {}, 'f:c': {} }, 'f:type': {} };
  expect(asApplied([theirs, status, ...ours])).toEqual([theirs, status, entry('reeve', 'Apply', merged)]);
});

test('managedFields in which Reeve only applied need no change', () => {
  expect(asApplied([entry('reeve', 'Apply', {})])).toBeUndefined();
  expect(asApplied(undefined)).toBeUndefined();
});
