// The webhook creates its configurations once connections to its Service have succeeded for half a second.
import { describe, expect, test } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { KubeObject } from '../../../src/base/kube-object.ts';
import { serviceReached, serviceTrial } from '../../../src/registration/service-reach.ts';

/** Returns the milliseconds that pass until the Service counts as reached. */
async function reachedAfter(isReachableAt: (now: number) => boolean): Promise<number> {
  let now = 0;
  const clock = {
    monotonic: () => now,
    sleep: (milliseconds: number) => {
      now += milliseconds;
      return Promise.resolve();
    },
  };
  await serviceReached(() => Promise.resolve(isReachableAt(now)), clock, new AbortController().signal);
  return now;
}

test.each([
  ['a Service that leads to a replica from the start is reached after half a second', () => true, 500],
  ['a Service is reached half a second after the first connection', (now: number) => now >= 3000, 3500],
  [
    'the half second begins again after a connection that fails',
    (now: number) => now >= 1000 && now !== 1250,
    2000,
  ],
  ['a Service that this Pod may not reach counts as reached after ten seconds', () => false, 10_000],
])('%s', async (_title, isReachableAt, milliseconds) => {
  expect(await reachedAfter(isReachableAt)).toBe(milliseconds);
});

test('the wait ends when the signal aborts', async () => {
  const clock = { monotonic: () => 0, sleep: () => Promise.resolve() };
  const stop = new AbortController();
  let tries = 0;
  const tryService = (): Promise<boolean> => {
    tries += 1;
    if (tries === 3) stop.abort();
    return Promise.resolve(false);
  };
  await serviceReached(tryService, clock, stop.signal);
  expect(tries).toBe(3);
});

describe('a Service to which no connection is possible is not reached', () => {
  const refused = new KubeError({ code: 403, reason: 'Forbidden', retryable: false });
  test.each<[string, () => Promise<KubeObject | undefined>]>([
    ['the Service is missing', () => Promise.resolve(undefined)],
    ['the Service has no address', () => Promise.resolve({ metadata: {}, spec: { clusterIP: 'None' } })],
    ['the account may not read the Service', () => Promise.reject(refused)],
  ])('%s', async (_title, read) => {
    const { signal } = new AbortController();
    const address = { namespace: 'reeve-system', name: 'reeve-webhook', port: 443 };
    expect(await serviceTrial({ read }, address, signal)()).toBe(false);
  });
});
