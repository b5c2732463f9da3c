import { describe, expect, test } from 'vitest';
import { classifyWriteError, type WriteOperation } from '../../../../src/reconcile/namespace/write-error.ts';
import { failure } from '../../../support/memory-objects.ts';

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

test('the message of a 403 names a full ResourceQuota as a possible cause', () => {
  const message = expect.stringContaining('a ResourceQuota of the namespace is used up') as unknown;
  expect(classifyWriteError(failure(403), 'create')).toMatchObject({ message });
});

test('an error of the program is thrown again', () => {
  expect(() => classifyWriteError(new TypeError('x'), 'change')).toThrow(TypeError);
});
