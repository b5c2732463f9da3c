// The explanation of a match agrees with the matcher, for any match and any namespace.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MatchSpec } from '../../src/api/namespace-policy/namespace-policy.ts';
import { failingTerm } from '../../src/policy/terms/match-trace.ts';
import { matchNamespace } from '../../src/policy/terms/match.ts';
import { aNamespace, aPolicy } from '../support/engine.ts';
import { propertyRuns } from '../support/property-runs.ts';

const name = fc.constantFrom('a', 'ab', 'team-a', 'team-old-1', 'shop', 'constructor');
const glob = fc.constantFrom('*', 'a*', '*a', 'team-*', '*-old-*', 'shop', 'a', 'a*b*', 'constructor');
const key = fc.constantFrom('team', 'env', 'example.com/a', 'constructor');
const value = fc.constantFrom('', 'red', 'blue', 'prod');
const requirement = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
);
const condition = fc.constantFrom(
  'true',
  'false',
  "namespaceObject.metadata.name.startsWith('team')",
  "namespaceObject.metadata.labels['team'] == 'red'",
  "'env' in namespaceObject.metadata.labels",
  "namespaceObject.metadata.annotations['x'] == ''",
  'int(namespaceObject.metadata.name) == 1',
);
const match: fc.Arbitrary<MatchSpec> = fc.record(
  {
    names: fc.uniqueArray(glob, { minLength: 1, maxLength: 3 }),
    excludeNames: fc.uniqueArray(glob, { maxLength: 2 }),
    namespaceSelector: fc.record(
      {
        matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
        matchExpressions: fc.array(requirement, { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
    matchConditions: fc
      .array(condition, { maxLength: 3 })
      .map((all) => all.map((expression, index) => ({ name: `c${index}`, expression }))),
  },
  { requiredKeys: [] },
);
const namespaceObject = fc
  .record({ name, labels: fc.dictionary(fc.oneof(key, fc.constant('__proto__')), value, { maxKeys: 4 }) })
  .map((metadata) => aNamespace(metadata));

test('a term fails if and only if the matcher says no', () => {
  const seen = { yes: 0, no: 0, error: 0 };
  fc.assert(
    fc.property(match, namespaceObject, (spec, object) => {
      const compiled = aPolicy('p', { match: spec }).match;
      const { kind } = matchNamespace(compiled, object);
      seen[kind] += 1;
      const term = failingTerm({ path: 'spec.match', match: spec }, compiled, object);
      expect(term === undefined).toBe(kind !== 'no');
    }),
    { numRuns: propertyRuns(3000) },
  );
  // Otherwise the property would say little.
  expect(Math.min(seen.yes, seen.no, seen.error)).toBeGreaterThan(0);
});
