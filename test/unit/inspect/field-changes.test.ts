// Which fields of an object a plan names, and which values it shows.
import { expect, test } from 'vitest';
import { changedFields } from '../../../src/inspect/plan/step-rows.ts';

const metadata = { name: 'regcred', namespace: 'team-a', uid: '1', resourceVersion: '1' };
const secret = { apiVersion: 'v1', kind: 'Secret', metadata };

test('no value of a Secret is shown, whatever the field is called', () => {
  const fields = ['data', 'stringData', 'dta'];
  const before = { ...secret, ...Object.fromEntries(fields.map((field) => [field, { key: 'value' }])) };
  expect(changedFields(before, secret)).toEqual([
    { path: 'data.key', change: 'removed' },
    { path: 'dta.key', change: 'removed' },
    { path: 'stringData.key', change: 'removed' },
  ]);
});

test('the type, the labels and whether a Secret is immutable are shown', () => {
  const after = {
    ...secret,
    type: 'Opaque',
    immutable: true,
    metadata: { ...metadata, labels: { team: 'red' } },
  };
  expect(changedFields(secret, after).map((each) => each.after)).toEqual(['true', '"red"', '"Opaque"']);
});

test('no value of a copy in a ConfigMap is shown, also where a policy takes it over', () => {
  const labels = { 'reeve.dev/configmapshare': 'ca' };
  const policy = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { own: 'x' } };
  const copy = { ...policy, metadata: { ...metadata, labels }, data: { key: 'canary' } };
  for (const [before, after] of [
    [copy, policy],
    [policy, copy],
  ] as const) {
    const changes = changedFields(before, after).filter(({ path }) => path.startsWith('data.'));
    expect(changes).toHaveLength(2);
    expect(JSON.stringify(changes)).not.toMatch(/canary|"x"/);
  }
});
