// Namespaces that two descriptions have in common.
import { array, assert, constant, constantFrom, property, record, type Arbitrary } from 'fast-check';
import { expect, test } from 'vitest';
import { both, complementOf, isIn, selectorIn, type NamespaceReach } from '../../../src/importers/reach.ts';
import { Reader } from '../../../src/importers/reader.ts';

const glob = constantFrom('*', 'a', 'ab', 'a*', 'ab*', '*b', 'b*', 'a*b');
const selector = constantFrom(
  { matchLabels: { x: '1' } },
  { matchExpressions: [{ key: 'x', operator: 'Exists' as const }] },
  { matchLabels: { x: '1', y: '2' } },
);
const reach: Arbitrary<NamespaceReach> = record(
  {
    names: array(glob, { minLength: 1, maxLength: 3 }),
    namespaceSelector: selector,
    excludeNames: array(glob, { maxLength: 1 }),
    matchConditions: constant([{ name: 'name', expression: 'namespaceObject.metadata.name.size() < 3' }]),
  },
  { requiredKeys: [] },
);
const namespace = record({
  name: constantFrom('a', 'b', 'ab', 'abb', 'ba', 'aab'),
  labels: constantFrom({}, { x: '1' }, { x: '2' }, { x: '1', y: '2' }),
});

test('a description of both matches a namespace if and only if each one does', () => {
  assert(
    property(reach, reach, namespace, (one, other, metadata) => {
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata };
      const joined = both(one, other);
      expect(isIn(joined, object)).toBe(isIn(one, object) && isIn(other, object));
    }),
  );
});

test('the namespaces outside of a reach are those that it does not match', () => {
  assert(
    property(reach, namespace, (one, metadata) => {
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata };
      const outside = complementOf(one);
      if (outside !== undefined) expect(isIn(outside, object)).toBe(!isIn(one, object));
    }),
  );
});

test('two globs with a text on both sides have a condition for the names in both', () => {
  expect(both({ names: ['a*b'] }, { names: ['a*c*'] })).toEqual({
    names: ['a*b'],
    matchConditions: [
      { name: 'condition-1', expression: 'namespaceObject.metadata.name.matches("^a.*c.*$")' },
    ],
  });
});

test('a selector with a part that is not understood is lost whole, because the rest would match more', () => {
  const reader = new Reader({ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Like' }] });
  expect(selectorIn(reader)).toBeUndefined();
  expect(reader.lost()).toMatchObject([{ why: 'a selector that Reeve cannot read' }]);
});
