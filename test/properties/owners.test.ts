// Properties of steering and of the fuse, for any policies, shares and namespaces: a share behaves like a policy.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../src/base/metadata.ts';
import { decide } from '../../src/policy/decide/decide.ts';
import { desired, isManaged } from '../../src/policy/desired/desired.ts';
import { providerId, type ProviderId } from '../../src/policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../../src/policy/compile/snapshot.ts';
import type { Decision } from '../../src/policy/terms/review.ts';
import {
  aNamespace,
  aProviderReview,
  aPolicy,
  aReview,
  aShare,
  aSnapshot,
  circumstances,
  providerObject,
  testInstall,
  providerDecision,
} from '../support/engine.ts';
import { propertyRuns } from '../support/property-runs.ts';

const key = fc.constantFrom('team', 'pull', 'constructor');
const value = fc.constantFrom('', 'true', 'red');
const labels = fc.dictionary(key, value, { maxKeys: 3 });
const name = fc.constantFrom('a', 'ab', 'b', 'kube-system');
const globs = fc.constantFrom(['*'], ['a*'], ['b'], ['a', 'b']);
const terms = fc.oneof(
  fc.record({ names: globs }),
  fc.record({ names: globs, excludeNames: fc.constantFrom(['a'], ['*b']) }),
  fc.record({ namespaceSelector: fc.record({ matchLabels: fc.dictionary(key, value, { maxKeys: 2 }) }) }),
  fc.record({
    namespaceSelector: fc.record({
      matchExpressions: fc.constantFrom(
        [{ key: 'team', operator: 'Exists' }],
        [{ key: 'pull', operator: 'NotIn', values: ['true'] }],
      ),
    }),
  }),
);
const source = { namespace: 'reeve-shared', name: 's' };

test('a share steers like a policy with the same match and the same contents everywhere', () => {
  const contents = { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }] };
  fc.assert(
    fc.property(terms, name, fc.option(labels), labels, (match, called, before, after) => {
      const review = aReview({
        object: aNamespace({ name: called, labels: after }),
        ...(before === null ? {} : { oldObject: aNamespace({ name: called, labels: before }) }),
      });
      const effects = (snapshot: ClusterSnapshot): readonly string[] =>
        decide(review, snapshot, circumstances).rights.map(
          ({ cause = 'this write', effect }) => `${cause} would ${effect}`,
        );
      const byPolicy = effects(aSnapshot([aPolicy('p', { match, contents })]));
      const byShare = effects(aSnapshot([], [], [aShare('p', { source, targets: match })]));
      expect(byShare).toEqual(byPolicy.map((each) => each.replace('NamespacePolicy p', 'SecretShare p')));
    }),
    { numRuns: propertyRuns(1000) },
  );
});

const entry = fc.constantFrom(
  'x',
  'y',
  '${namespaceObject.metadata.name}',
  "${namespaceObject.metadata.labels['team']}",
  '${string(1 / (size(namespaceObject.metadata.name) - 1))}',
);
/** A condition that has an error for a namespace that has labels, but not this one. */
const condition = { name: 'c', expression: "namespaceObject.metadata.labels['team'] == 'red'" };
const policySpec = fc.record({
  match: fc.oneof(
    terms,
    terms.map((each) => ({ ...each, matchConditions: [condition] })),
  ),
  maxDeletions: fc.constant(1_000_000),
  contents: fc.record({
    resources: fc
      .uniqueArray(entry, { maxLength: 3 })
      .map((names) =>
        names.map((each) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: each } })),
      ),
  }),
});
const shareSpec = fc.record({
  source: fc.constant(source),
  targets: terms,
  target: fc.record({ name: fc.constantFrom('x', 'y') }),
  maxDeletions: fc.constant(1_000_000),
});
const cluster = fc.record({
  namespaces: fc
    .uniqueArray(fc.record({ name, labels }), { selector: (each) => each.name })
    .map((all) => all.map(aNamespace)),
  policies: fc
    .array(policySpec, { maxLength: 2 })
    .map((specs) => specs.map((spec, index) => aPolicy(`other-${index}`, spec))),
  shares: fc
    .array(shareSpec, { maxLength: 2 })
    .map((specs) => specs.map((spec, index) => aShare(`other-${index}`, spec))),
});
type Cluster = typeof cluster extends fc.Arbitrary<infer T> ? T : never;

/** Returns the number of objects that the owner wants in the first snapshot, and no provider in the second. */
function countLost(owner: ProviderId, before: ClusterSnapshot, after: ClusterSnapshot): number {
  const lostIn = (namespaceObject: KubeObject): number => {
    const { claims, frozen } = desired(namespaceObject, after, circumstances.now);
    // An error keeps all objects as they are.
    if (frozen.has(owner)) return 0;
    return [...desired(namespaceObject, before, circumstances.now).claims.values()]
      .flat()
      .filter((claim) => claim.provider === owner && !claims.has(claim.key)).length;
  };
  return [...before.namespaces()]
    .filter((each) => isManaged(each, before))
    .reduce((sum, each) => sum + lostIn(each), 0);
}

function deletedSaid({ notices }: Decision): number {
  const count = notices
    .map((notice) => / deletes (?:up to )?(\d+) /.exec(notice)?.[1])
    .find((text) => text !== undefined);
  return Number(count ?? 0);
}

function decisionOn(
  kind: 'NamespacePolicy' | 'SecretShare',
  old: unknown,
  now: unknown,
  known: ClusterSnapshot,
) {
  const review = aProviderReview({
    resource: kind === 'SecretShare' ? 'secretshares' : 'namespacepolicies',
    oldObject: providerObject(kind, 'own', old, { finalizers: ['reeve.dev/cleanup'] }),
    ...(now === null ? {} : { object: providerObject(kind, 'own', now) }),
  });
  return providerDecision(review, known, { ...circumstances, install: testInstall });
}

test('a write of a policy deletes the objects that only its old version makes desired', () => {
  fc.assert(
    fc.property(cluster, policySpec, fc.option(policySpec), (all: Cluster, old, now) => {
      const withOwn = (spec: unknown) =>
        aSnapshot(
          [...all.policies, ...(spec === null ? [] : [aPolicy('own', spec)])],
          all.namespaces,
          all.shares,
        );
      const said = deletedSaid(decisionOn('NamespacePolicy', old, now, withOwn(old)));
      expect(said).toBe(countLost(providerId('NamespacePolicy', 'own'), withOwn(old), withOwn(now)));
    }),
    { numRuns: propertyRuns(1000) },
  );
});

test('a write of a share deletes the objects that only its old version makes desired', () => {
  fc.assert(
    fc.property(cluster, shareSpec, fc.option(shareSpec), (all: Cluster, old, now) => {
      const withOwn = (spec: unknown) =>
        aSnapshot(all.policies, all.namespaces, [
          ...all.shares,
          ...(spec === null ? [] : [aShare('own', spec)]),
        ]);
      const said = deletedSaid(decisionOn('SecretShare', old, now, withOwn(old)));
      expect(said).toBe(countLost(providerId('SecretShare', 'own'), withOwn(old), withOwn(now)));
    }),
    { numRuns: propertyRuns(1000) },
  );
});
