// The time that a request has, and the asker who may go away.
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RequestLimits } from '../../../../src/kube/http/request-limits.ts';

test('the time is over', async () => {
  const limits = new RequestLimits(undefined, 1);
  if (!limits.signal.aborted) await once(limits.signal, 'abort');
  expect(limits.signal.reason).toMatchObject({
    name: 'KubeError',
    code: 0,
    reason: 'Timeout',
    retryable: true,
  });
});

test('the asker goes away', () => {
  const asker = new AbortController();
  const limits = new RequestLimits(asker.signal, 60_000);
  expect(limits.signal.aborted).toBe(false);
  asker.abort('gone');
  expect(limits.signal.reason).toBe('gone');
  limits.end();
});

test('the asker has gone before', () => {
  const limits = new RequestLimits(AbortSignal.abort('gone'), 60_000);
  expect(limits.signal.reason).toBe('gone');
  limits.end();
});

test.each<[string, (limits: RequestLimits) => void]>([
  ['it may take any time', (limits) => limits.removeTimeout()],
  ['it has ended', (limits) => limits.end()],
])('no time ends it when %s', async (_, change) => {
  const limits = new RequestLimits(undefined, 1);
  change(limits);
  await setTimeout(20);
  expect(limits.signal.aborted).toBe(false);
});

test('what has ended no longer hears of the asker', () => {
  const asker = new AbortController();
  const limits = new RequestLimits(asker.signal, 60_000);
  limits.end();
  asker.abort('gone');
  expect(limits.signal.aborted).toBe(false);
});
