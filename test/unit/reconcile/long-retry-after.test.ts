import { expect, test } from 'vitest';
import { writeFault } from '../../../src/reconcile/namespace/write-fault.ts';
import { failure } from '../../support/memory-objects.ts';

test('a server that wants to be left alone for hours is asked again after five minutes', () => {
  expect(writeFault(failure(429, [], 86_400_000), 'change')).toMatchObject({ leastMs: 300_000 });
});

test('403 may also come of a quota', () => {
  const message = expect.stringContaining('a ResourceQuota of the namespace is used up') as unknown;
  expect(writeFault(failure(403), 'create')).toMatchObject({ message });
});
