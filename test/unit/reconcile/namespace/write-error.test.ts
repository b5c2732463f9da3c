import { describe, expect, test } from 'vitest';
import { KubeError, type Refusal } from '../../../../src/base/kube-error.ts';
import { classifyStepError, classifyWriteError } from '../../../../src/reconcile/namespace/write-error.ts';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import type { DoneStep } from '../../../../src/policy/plan/plan.ts';
import { failure } from '../../../support/memory-objects.ts';

type WriteOperation = Parameters<typeof classifyWriteError>[1];

describe('an answer of the API server is classified', () => {
  test.each<readonly [code: number, causes: readonly string[], operation: WriteOperation, expected: object]>([
    [404, [], 'delete', { kind: 'not-found' }],
    [404, [], 'change', { kind: 'not-found' }],
    // The namespace is missing, not the object.
    [404, [], 'create', { kind: 'transient', minDelayMs: 0 }],
    [409, [], 'change', { kind: 'transient', minDelayMs: 0 }],
    [403, ['NamespaceTerminating'], 'create', { kind: 'namespace-terminating' }],
    [403, [], 'create', { kind: 'permanent', reason: 'InsufficientPermissions', minDelayMs: 30_000 }],
    [422, [], 'create', { kind: 'permanent', reason: 'Rejected' }],
    [400, [], 'change', { kind: 'permanent', reason: 'Rejected' }],
    [0, [], 'change', { kind: 'transient' }],
    [401, [], 'change', { kind: 'transient' }],
    [500, [], 'change', { kind: 'transient' }],
  ])('%i %j for a %s', (code, causes, operation, expected) => {
    expect(classifyWriteError(failure(code, causes), operation)).toMatchObject(expected);
  });
});

test('the delay that the API server asks for is respected', () => {
  const classified = classifyWriteError(failure(429, [], 7000), 'change');
  expect(classified).toMatchObject({ kind: 'transient', minDelayMs: 7000 });
});

test('an API server that asks for a delay of hours is asked again after five minutes', () => {
  const classified = classifyWriteError(failure(429, [], 86_400_000), 'change');
  expect(classified).toMatchObject({ minDelayMs: 300_000 });
});

test('a write that cannot succeed by itself is not retried', () => {
  expect(classifyWriteError(failure(422), 'create')).not.toHaveProperty('minDelayMs');
});

test('a RoleBinding whose ClusterRole does not exist fails with its name, and is tried again later', () => {
  const error = new KubeError({
    code: 404,
    reason: 'NotFound',
    retryable: false,
    refusal: { by: 'role', name: 'eddit' },
  });
  expect(classifyWriteError(error, 'create')).toEqual({
    kind: 'permanent',
    reason: 'RoleMissing',
    message: 'ClusterRole eddit does not exist',
    minDelayMs: 30_000,
  });
  // There, the RoleBinding itself is missing.
  expect(classifyWriteError(error, 'delete')).toEqual({ kind: 'not-found' });
});

test.each<readonly [Refusal | undefined, object]>([
  [
    { by: 'rights', name: 'create secrets' },
    {
      reason: 'InsufficientPermissions',
      message: "the install gives Reeve's account no right to create secrets here",
      minDelayMs: 30_000,
    },
  ],
  [
    { by: 'escalation' },
    {
      reason: 'InsufficientPermissions',
      message: "the install gives Reeve's account no right to bind this role",
    },
  ],
  [
    { by: 'policy', name: 'p', text: 'no' },
    { reason: 'Rejected', message: 'ValidatingAdmissionPolicy p refuses it: no', minDelayMs: 30_000 },
  ],
  [
    { by: 'webhook', name: 'w' },
    { reason: 'Rejected', message: 'admission webhook w refuses it' },
  ],
  [
    { by: 'quota', name: 'q', text: 'used: pods=2' },
    { message: 'ResourceQuota q refuses it: used: pods=2', minDelayMs: 30_000 },
  ],
  [{ by: 'podSecurity', name: 'baseline:latest' }, { message: 'Pod Security baseline:latest refuses it' }],
  [
    { by: 'unknown', text: 'being reviewed' },
    { reason: 'Rejected', message: 'the API server refuses it (403 Forbidden): being reviewed' },
  ],
  [undefined, { reason: 'Rejected', message: 'the API server refuses it (403 Forbidden)' }],
])('the message of a 403 names the one cause that is known: %j', (refusal, expected) => {
  const error = new KubeError({
    code: 403,
    reason: 'Forbidden',
    retryable: false,
    ...(refusal === undefined ? {} : { refusal }),
  });
  expect(classifyWriteError(error, 'create')).toMatchObject(expected);
});

test('the message of a 422 names the fields, and the write is not retried', () => {
  const refusal = { by: 'fields', text: 'data[tls.key] is missing' } as const;
  const error = new KubeError({ code: 422, reason: 'Invalid', retryable: false, refusal });
  const classified = classifyWriteError(error, 'create');
  expect(classified).toMatchObject({ message: 'the API server finds it invalid: data[tls.key] is missing' });
  expect(classified).not.toHaveProperty('minDelayMs');
});

test.for([
  ['a RoleBinding that Reeve may not create names the role', undefined, ''],
  [
    'a RoleBinding that Reeve may not replace names the role, and the one that is still granted',
    'edit',
    '; the old RoleBinding stays and grants ClusterRole edit',
  ],
] as const)('%s', ([, old, stays]) => {
  const granting = (name: string) => ({ roleRef: { kind: 'ClusterRole', name } }) as unknown as KubeObject;
  const live = old === undefined ? undefined : { content: { kind: 'object', object: granting(old) } };
  const step = { kind: 'replace', object: granting('admin'), live } as DoneStep;
  const error = new KubeError({
    code: 403,
    reason: 'Forbidden',
    retryable: false,
    refusal: { by: 'escalation' },
  });
  expect(classifyStepError(error, step)).toMatchObject({
    reason: 'InsufficientPermissions',
    message: `the install gives Reeve's account no right to bind ClusterRole admin${stays}`,
  });
});

test('an error of the program is thrown again', () => {
  expect(() => classifyWriteError(new TypeError('x'), 'change')).toThrow(TypeError);
});
