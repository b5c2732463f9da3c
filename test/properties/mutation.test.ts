// Properties of mutation, for any policies and any namespace.
import * as fc from 'fast-check';
import { applyPatch } from 'rfc6902';
import { expect, test } from 'vitest';
import { decide } from '../../src/policy/decide/decide.ts';
import { mutate, patchedBy } from '../../src/policy/decide/mutate.ts';
import type { KubeObject } from '../../src/base/metadata.ts';
import type { Review } from '../../src/policy/terms/review.ts';
import type { ClusterSnapshot } from '../../src/policy/compile/snapshot.ts';
import { aNamespace, aPolicy, aReview, aSnapshot, circumstances, problemsOf } from '../support/engine.ts';
import { propertyRuns } from '../support/property-runs.ts';

const key = fc.constantFrom(
  'team',
  'env',
  'example.com/a',
  'constructor',
  'tier',
  'x.y/z_1',
  'owner',
  'a.b/c.d',
);
const value = fc.constantFrom('', 'red', 'blue', 'team', 'x1');
const template = fc.oneof(
  value,
  fc.constantFrom(
    '${namespaceObject.metadata.name}',
    "${namespaceObject.metadata.labels['owner']}",
    '${request.userInfo.username}',
    'by-${request.operation}',
  ),
);
const labels = fc.dictionary(key, value, { maxKeys: 5 });
const spec = fc.record({
  match: fc.oneof(
    fc.constant({}),
    fc.record({ names: fc.constantFrom(['a*'], ['*']) }),
    fc.record({ namespaceSelector: fc.record({ matchLabels: fc.dictionary(key, value, { maxKeys: 1 }) }) }),
  ),
  namespaces: fc.record({
    defaults: fc.record({
      labels: fc.dictionary(key, template, { maxKeys: 3 }),
      annotations: fc.dictionary(key, template, { maxKeys: 3 }),
    }),
    required: fc.record({
      labels: fc.dictionary(key, fc.constantFrom({}, { values: ['red', 'blue', 'team'] }), { maxKeys: 2 }),
    }),
  }),
});
// A policy that contradicts itself does not load, so it never mutates an object.
const policies = fc
  .array(spec, { maxLength: 4 })
  .map((specs) =>
    specs.filter((each) => problemsOf('p', each).length === 0).map((each, i) => aPolicy(`p${i}`, each)),
  );
const metadata = fc.record(
  { name: fc.constantFrom('a', 'abc', 'z'), labels, annotations: labels },
  { requiredKeys: ['name'] },
);

function withoutUndefined(object: KubeObject): KubeObject {
  return JSON.parse(JSON.stringify(object)) as KubeObject;
}

function patched(review: Review, snapshot: ClusterSnapshot): Review {
  const { object } = review;
  if (object === undefined) return review;
  const copy = structuredClone(object);
  const errors = applyPatch(copy, [...mutate(review, snapshot, circumstances).patch]);
  expect(errors.every((error) => error === null)).toBe(true);
  return { ...review, object: copy };
}

const reviews = fc
  .tuple(policies, metadata, fc.option(metadata, { nil: undefined }))
  .map(([compiled, now, before]) => ({
    snapshot: aSnapshot(compiled),
    review: aReview({
      object: withoutUndefined(aNamespace(now)),
      ...(before === undefined
        ? {}
        : { oldObject: withoutUndefined(aNamespace({ ...before, name: now.name })) }),
    }),
  }));

test('the patch applies cleanly, only adds keys, and mutating again changes nothing', () => {
  fc.assert(
    fc.property(reviews, ({ review, snapshot }) => {
      const { denials } = mutate(review, snapshot, circumstances);
      fc.pre(denials.length === 0);
      const mutated = patched(review, snapshot);
      expect(mutated.object).toMatchObject(review.object ?? {});
      expect(mutate(mutated, snapshot, circumstances).patch).toEqual([]);
    }),
    { numRuns: propertyRuns(1000) },
  );
});

test('a patch that Reeve applies by itself gives the object that RFC 6902 gives', () => {
  fc.assert(
    fc.property(reviews, ({ review, snapshot }) => {
      const { object = aNamespace({}) } = review;
      const { patch } = mutate(review, snapshot, circumstances);
      expect(patchedBy(object, patch)).toEqual(patched(review, snapshot).object);
    }),
    { numRuns: propertyRuns(1000) },
  );
});

test('the defaults of a policy on a new namespace never violate that policy', () => {
  fc.assert(
    fc.property(spec, metadata, (own, given) => {
      fc.pre(problemsOf('p', own).length === 0);
      const snapshot = aSnapshot([aPolicy('p', own)]);
      const review = aReview({ object: withoutUndefined(aNamespace(given)) });
      const set = new Set(mutate(review, snapshot, circumstances).patch.flatMap(keysOf));
      const { violations } = decide(patched(review, snapshot), snapshot, circumstances);
      const paths = violations.map(({ violation }) => violation.path);
      expect(paths.filter((path) => set.has(path))).toEqual([]);
    }),
    { numRuns: propertyRuns(1000) },
  );
});

test('a mutated namespace passes validation if every default can be computed', () => {
  const own = {
    namespaces: {
      defaults: { labels: { team: 'red' }, annotations: { by: '${request.userInfo.username}' } },
    },
  };
  fc.assert(
    fc.property(metadata, (given) => {
      const snapshot = aSnapshot([aPolicy('p', own)]);
      const review = aReview({ object: withoutUndefined(aNamespace(given)) });
      expect(decide(patched(review, snapshot), snapshot, circumstances).violations).toEqual([]);
    }),
  );
});

function keysOf({
  path,
  value: added,
}: {
  readonly path: string;
  readonly value: unknown;
}): readonly string[] {
  const [, , field = '', escaped] = path.split('/');
  const keys =
    escaped === undefined
      ? Object.keys(added as object)
      : [escaped.replaceAll('~1', '/').replaceAll('~0', '~')];
  return keys.map((each) => `metadata.${field}[${JSON.stringify(each)}]`);
}
