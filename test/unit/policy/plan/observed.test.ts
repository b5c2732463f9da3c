// The facts remembered of a Secret are enough to compare it, and reveal none of its values.
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { secretObjectType } from '../../../../src/base/object-type.ts';
import { observeObject } from '../../../../src/policy/plan/observed.ts';

const payload = 'cGF5bG9hZA==';

function secretWith(labels: Readonly<Record<string, string>>): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'regcred',
      namespace: 'team-a',
      uid: '1',
      resourceVersion: '2',
      labels: { ...labels, team: 'a' },
      annotations: {
        'reeve.dev/owner': 'SecretShare/regcred',
        'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data: { key: payload } }),
      },
    },
    type: 'Opaque',
    data: { key: payload },
  };
}

test.each([
  ['a copy is remembered by its hash', { 'app.kubernetes.io/managed-by': 'reeve' }, 'copy'],
  ['an offered Secret is remembered by its hash', { 'reeve.dev/adopt': 'true' }, 'copy'],
  ['a Secret of a tenant is not remembered', {}, 'foreign'],
])('%s', (_, labels, kind) => {
  const observed = observeObject(secretObjectType, secretWith(labels));
  expect(observed.content.kind).toBe(kind);
  expect(inspect(observed, { depth: Infinity })).not.toContain(payload);
});

test('labels and annotations of a copy are compared', () => {
  expect(
    observeObject(secretObjectType, secretWith({ 'app.kubernetes.io/managed-by': 'reeve' })).content,
  ).toMatchObject({
    metadata: {
      labels: { 'app.kubernetes.io/managed-by': 'reeve', team: 'a' },
      annotations: { 'reeve.dev/owner': 'SecretShare/regcred' },
    },
  });
});
