// The laws of the difference: each object that is wanted before or after a change is kept, lost, gained or handed over.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { difference, type Change, type Claims } from '../../src/policy/decide/difference.ts';
import type { Claim } from '../../src/policy/desired/desired.ts';
import { objectKey, type ObjectKey } from '../../src/base/object-type.ts';
import { providerId } from '../../src/policy/terms/provider-id.ts';
import { propertyRuns } from '../support/property-runs.ts';

const type = { apiVersion: 'v1', kind: 'ConfigMap' };

function aClaim(name: string, policy: string, data: string): Claim {
  const key = objectKey(type, name);
  const content = { kind: 'object', body: { data } } as const;
  return { type, name, key, provider: providerId('NamespacePolicy', policy), content };
}

const claims = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', '__proto__'),
      policies: fc.uniqueArray(fc.constantFrom('p', 'q'), { minLength: 1 }),
      data: fc.constantFrom('1', '2'),
    }),
    { selector: ({ name }) => name },
  )
  .map((all): Claims => {
    const entries = all.map(({ name, policies, data }) => {
      const each = policies.map((policy) => aClaim(name, policy, data));
      return [objectKey(type, name), each] as const;
    });
    return new Map(entries);
  });

function keysOf(
  changes: ReadonlyMap<ObjectKey, Change>,
  ...kinds: readonly Change['kind'][]
): Set<ObjectKey> {
  return new Set([...changes].filter(([, { kind }]) => kinds.includes(kind)).map(([key]) => key));
}

test('an object that is kept, lost or handed over was wanted before, and one that is not lost is wanted after', () => {
  fc.assert(
    fc.property(claims, claims, (before, after) => {
      const changes = difference(before, after);
      expect(keysOf(changes, 'kept', 'lost', 'handedOver')).toEqual(new Set(before.keys()));
      expect(keysOf(changes, 'kept', 'gained', 'handedOver')).toEqual(new Set(after.keys()));
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('the first claim to an object decides whether its provider keeps it', () => {
  fc.assert(
    fc.property(claims, claims, (before, after) => {
      for (const [key, change] of difference(before, after)) {
        const [was, is] = [before, after].map((side) => side.get(key)?.[0]);
        if (change.kind === 'lost') expect([change.before, is]).toEqual([was, undefined]);
        else if (change.kind === 'gained') expect([was, change.after]).toEqual([undefined, is]);
        else {
          expect([change.before, change.after]).toEqual([was, is]);
          expect(change.kind === 'kept').toBe(was?.provider === is?.provider);
        }
      }
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('a change that is undone gains what it lost, and hands back what it handed over', () => {
  fc.assert(
    fc.property(claims, claims, (before, after) => {
      const [there, back] = [difference(before, after), difference(after, before)];
      expect(keysOf(back, 'gained')).toEqual(keysOf(there, 'lost'));
      expect(keysOf(back, 'handedOver')).toEqual(keysOf(there, 'handedOver'));
      expect(keysOf(difference(before, before), 'kept')).toEqual(new Set(before.keys()));
    }),
    { numRuns: propertyRuns(500) },
  );
});
