// Properties of the names of intents' objects, for any names, selectors and suffixes.
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSubdomain } from '../../src/base/kubernetes-names.ts';
import { intentObjectName } from '../../src/policy/intents/object-names.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Few letters, so that a name is often the beginning of another one. */
const intent = fc.stringMatching(/^[ab1]([-ab1]{0,61}[ab1])?(\.[ab1]([-ab1]{0,9}[ab1])?)?$/, { size: 'max' });
const name = intent.filter((each) => each.length <= 63);
const value = fc.constantFrom('a', 'b');
const workloads = fc.option(
  fc.record(
    {
      matchLabels: fc.dictionary(value, value, { minKeys: 1, noNullPrototype: true }),
      matchExpressions: fc.array(
        fc.record({
          key: value,
          operator: fc.constantFrom('In' as const, 'NotIn' as const),
          values: fc.array(value),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  { nil: undefined },
);
const suffix = fc.option(value, { nil: undefined });
const parts = fc.record({ name, workloads, suffix, maxLength: fc.constantFrom(52, 63) });

test('the name of an object is a valid name within its limit', () => {
  fc.assert(
    fc.property(parts, (given) => {
      const result = intentObjectName(given);
      expect(isSubdomain(result), result).toBe(true);
      expect(result.length).toBeLessThanOrEqual(given.maxLength);
    }),
    { numRuns: propertyRuns(1000) },
  );
});

test('two objects have the same name only if intent, selector and suffix are the same', () => {
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const [a, b] = [one, other].map((each) => intentObjectName({ ...each, maxLength: 63 }));
      expect(a === b).toBe(isDeepStrictEqual({ ...one, maxLength: 63 }, { ...other, maxLength: 63 }));
    }),
    { numRuns: propertyRuns(5000) },
  );
});
