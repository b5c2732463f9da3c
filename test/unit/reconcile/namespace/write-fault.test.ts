import { describe, expect, test } from 'vitest';
import { writeFault, type Writing } from '../../../../src/reconcile/namespace/write-fault.ts';
import { failure } from '../../../support/memory-objects.ts';

describe('what an answer of the API server means', () => {
  test.each<readonly [code: number, causes: readonly string[], writing: Writing, expected: object]>([
    [404, [], 'delete', { kind: 'gone' }],
    [404, [], 'change', { kind: 'gone' }],
    // Of what is made, it is the namespace that is not there.
    [404, [], 'create', { kind: 'transient', leastMs: 0 }],
    [409, [], 'change', { kind: 'transient', leastMs: 0 }],
    [403, ['NamespaceTerminating'], 'create', { kind: 'namespace-ends' }],
    [403, [], 'create', { kind: 'lasting', reason: 'InsufficientPermissions', leastMs: 30_000 }],
    [422, [], 'create', { kind: 'lasting', reason: 'Rejected' }],
    [400, [], 'change', { kind: 'lasting', reason: 'Rejected' }],
    [0, [], 'change', { kind: 'transient' }],
    [401, [], 'change', { kind: 'transient' }],
    [500, [], 'change', { kind: 'transient' }],
  ])('%i %j for a %s', (code, causes, writing, expected) => {
    expect(writeFault(failure(code, causes), writing)).toMatchObject(expected);
  });

  test('how long the server wants to be left alone is kept', () => {
    expect(writeFault(failure(429, [], 7000), 'change')).toMatchObject({ kind: 'transient', leastMs: 7000 });
  });

  test('what cannot succeed by itself is not tried again', () => {
    expect(writeFault(failure(422), 'create')).not.toHaveProperty('leastMs');
  });

  test('anything else is a fault of the program', () => {
    expect(() => writeFault(new TypeError('x'), 'change')).toThrow(TypeError);
  });
});
