// Checks the time limit of a request, and the signal of its caller.
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RequestLimits } from '../../../../src/kube/http/https-client.ts';

test('the signal aborts with Timeout when the time is over', async () => {
  const limits = new RequestLimits(undefined, 1);
  if (!limits.signal.aborted) await once(limits.signal, 'abort');
  expect(limits.signal.reason).toMatchObject({
    name: 'KubeError',
    code: 0,
    reason: 'Timeout',
    retryable: true,
  });
});

test('the signal aborts when the caller aborts', () => {
  const caller = new AbortController();
  const limits = new RequestLimits(caller.signal, 60_000);
  expect(limits.signal.aborted).toBe(false);
  caller.abort('gone');
  expect(limits.signal.reason).toBe('gone');
  limits.end();
});

test('the signal is aborted when the caller aborted before', () => {
  const limits = new RequestLimits(AbortSignal.abort('gone'), 60_000);
  expect(limits.signal.reason).toBe('gone');
  limits.end();
});

test.each<[string, (limits: RequestLimits) => void]>([
  ['the timeout was removed', (limits) => limits.removeTimeout()],
  ['the request has ended', (limits) => limits.end()],
])('the signal does not abort when %s', async (_, change) => {
  const limits = new RequestLimits(undefined, 1);
  change(limits);
  await setTimeout(20);
  expect(limits.signal.aborted).toBe(false);
});

test('a request that has ended ignores its caller', () => {
  const caller = new AbortController();
  const limits = new RequestLimits(caller.signal, 60_000);
  limits.end();
  caller.abort('gone');
  expect(limits.signal.aborted).toBe(false);
});
