import { expect, test } from 'vitest';
import { DryRuns } from '../../../../src/reconcile/namespace/object-writes.ts';

const wanted = { metadata: { annotations: { 'reeve.dev/applied': 'x' } } };
const answered = {
  kind: 'LimitRange',
  apiVersion: 'v1',
  metadata: { name: 'a', uid: 'u', resourceVersion: '5', managedFields: [{ manager: 'reeve' }] },
  spec: { limits: [{ type: 'Container', default: { cpu: '500m' } }] },
};
const { metadata, ...rest } = answered;
const { managedFields: _fields, ...watchedMetadata } = metadata;

test.each<readonly [string, object, boolean]>([
  ['as answered', answered, true],
  ['as its watch reports it', { ...rest, metadata: watchedMetadata }, true],
  ['with another status', { ...answered, status: { used: 1 } }, true],
  [
    'with another resourceVersion and generation',
    { ...answered, metadata: { ...metadata, resourceVersion: '6', generation: 2 } },
    true,
  ],
  ['with one more item of a list', { ...answered, spec: { limits: [{}, ...answered.spec.limits] } }, false],
  ['with another value', { ...answered, spec: { limits: [] } }, false],
  ['created again', { ...answered, metadata: { ...metadata, uid: 'v' } }, false],
])('after a dry run, needing no write is known of the object %s: %j', (_what, live, expected) => {
  const dryRuns = new DryRuns();
  dryRuns.remember(wanted, answered);
  expect(dryRuns.isKnown(wanted, live as typeof answered)).toBe(expected);
});

test('a dry run says nothing about another desired object', () => {
  const dryRuns = new DryRuns();
  dryRuns.remember(wanted, answered);
  expect(dryRuns.isKnown({ metadata: { annotations: { 'reeve.dev/applied': 'y' } } }, answered)).toBe(false);
});
