// Checks which process leads, from when until when, and the content of the Lease.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeClient, KubeRequest } from '../../../../src/kube/http/client.ts';
import { electLeader, claimedLease, readLease } from '../../../../src/kube/lease/lease.ts';
import {
  FakeApiServer,
  FakeObject,
  networkError,
  refusal,
  silence,
} from '../../../support/fake-api-server.ts';
import type { Answer, Script } from '../../../support/fake-api-server.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

type Candidacy = ReturnType<typeof electLeader>;
type LeaseOptions = Parameters<typeof electLeader>[1];

const path = '/apis/coordination.k8s.io/v1/namespaces/reeve-system/leases/reeve-leader';

interface World {
  readonly time: VirtualClock;
  readonly lease: FakeObject;
}

function world(): World {
  return { time: new VirtualClock({ start: new Date('2030-01-01T00:00:00Z') }), lease: new FakeObject(path) };
}

interface Candidate {
  readonly candidacy: Candidacy;
  readonly server: FakeApiServer;
  /** `lead`, `lost` and errors, as they happened. */
  readonly log: string[];
  readonly signals: AbortSignal[];
  readonly link: Link;
}

/** Intercepts the requests of a candidate. */
interface Link {
  interfere: (request: KubeRequest) => Answer | undefined;
}

function stand({ time, lease }: World, identity: string, more: Partial<LeaseOptions> = {}): Candidate {
  const log: string[] = [];
  const signals: AbortSignal[] = [];
  const link: Link = { interfere: () => undefined };
  const script: Script = (request) => link.interfere(request) ?? lease.answer(request);
  const server = new FakeApiServer(time, script);
  const options = {
    namespace: 'reeve-system',
    name: 'reeve-leader',
    identity,
    clock: time,
    onError: ({ code, reason }: { code: number; reason: string }) => log.push(`${code} ${reason}`),
    ...more,
  };
  const listener = {
    onLead: (signal: AbortSignal) => {
      log.push('lead');
      signals.push(signal);
    },
    onLost: () => log.push('lost'),
  };
  const candidacy = electLeader(server, options, listener);
  onTestFinished(async () => {
    link.interfere = () => refusal(404, 'NotFound');
    await candidacy.stop();
  });
  return { candidacy, server, log, signals, link };
}

describe('taking the lead', () => {
  test('a candidate creates a missing Lease and leads', async () => {
    const here = world();
    const { candidacy, log } = stand(here, 'a');
    await here.time.settle();
    expect([candidacy.isLeader, ...log]).toEqual([true, 'lead']);
    expect(here.lease.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2030-01-01T00:00:00.000000Z',
      renewTime: '2030-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
  });

  test('the leader renews every two seconds, and changes nothing else of the Lease', async () => {
    const here = world();
    here.lease.write({ metadata: { labels: { a: 'b' } }, spec: { holderIdentity: '', strategy: 'x' } });
    const { server } = stand(here, 'a');
    await here.time.advance(4000);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'PUT', 'PUT', 'PUT']);
    expect(server.requests.at(-1)?.body).toEqual({
      metadata: { labels: { a: 'b' }, resourceVersion: '3' },
      spec: {
        holderIdentity: 'a',
        strategy: 'x',
        leaseDurationSeconds: 15,
        acquireTime: '2030-01-01T00:00:00.000000Z',
        renewTime: '2030-01-01T00:00:04.000000Z',
        leaseTransitions: 0,
      },
    });
  });

  test.for([
    [
      'its duration, whatever its times are',
      { leaseDurationSeconds: 4, renewTime: '1999-01-01T00:00:00.000000Z' },
      4000,
    ],
    ['the duration of the candidate, if it has none', {}, 15_000],
    ['four times that, if its duration is years', { leaseDurationSeconds: 2_147_483_647 }, 60_000],
  ] as const)(
    'a candidate waits until the Lease of another was unchanged for %s',
    async ([, spec, expected]) => {
      const here = world();
      here.lease.write({ spec: { ...spec, holderIdentity: 'gone' } });
      const { candidacy } = stand(here, 'a');
      await here.time.advance(expected - 1);
      expect(candidacy.isLeader).toBe(false);
      await here.time.advance(1);
      expect(candidacy.isLeader).toBe(true);
    },
  );

  test('a candidate waits again after each renewal of another', async () => {
    const here = world();
    const first = stand(here, 'a');
    await here.time.settle();
    const second = stand(here, 'b');
    await here.time.advance(60_000);
    expect([first.log, second.log]).toEqual([['lead'], []]);
    first.link.interfere = () => silence;
    await here.time.advance(17_000);
    expect([first.candidacy.isLeader, second.candidacy.isLeader]).toEqual([false, true]);
    expect(here.lease.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test.each([
    [undefined, 0],
    [7, 8],
    [2 ** 31 - 2, 2 ** 31 - 1],
    // The API server would refuse the next number, and no replica could lead again.
    [2 ** 31 - 1, 0],
  ])('a Lease with %s transitions can be taken over', (leaseTransitions, next) => {
    const spec = { holderIdentity: 'a', ...(leaseTransitions === undefined ? {} : { leaseTransitions }) };
    const record = readLease({ metadata: { resourceVersion: '1' }, spec });
    const claim = { identity: 'b', durationMs: 15_000, now: new Date(0) };
    expect(claimedLease(record, claim)).toMatchObject({ spec: { leaseTransitions: next } });
  });

  test('a candidate keeps trying after every error, and waits as long as the server requires', async () => {
    const here = world();
    const candidate = stand(here, 'a');
    const refusals = [
      refusal(403, 'Forbidden'),
      refusal(429, 'TooManyRequests', { retryAfterMs: 5000 }),
      refusal(0, 'ECONNREFUSED'),
    ];
    candidate.link.interfere = () => refusals.shift();
    await here.time.advance(8999);
    expect(candidate.log).toEqual(['403 Forbidden', '429 TooManyRequests', '0 ECONNREFUSED']);
    await here.time.advance(1);
    expect(candidate.candidacy.isLeader).toBe(true);
  });
});

describe('losing the lead', () => {
  test('the lead ends at once when another process holds the Lease', async () => {
    const here = world();
    const { candidacy, log, signals } = stand(here, 'a');
    await here.time.settle();
    here.lease.write({ spec: { holderIdentity: 'b', leaseDurationSeconds: 15 } });
    await here.time.advance(2000);
    expect([candidacy.isLeader, signals[0]?.aborted, ...log]).toEqual([
      false,
      true,
      'lead',
      '409 Conflict',
      'lost',
    ]);
    await here.time.advance(15_000);
    expect([candidacy.isLeader, signals[1]?.aborted]).toEqual([true, false]);
  });

  test('the lead ends at once when the Lease was deleted, and the process creates a new one', async () => {
    const here = world();
    const { log, signals } = stand(here, 'a');
    await here.time.settle();
    here.lease.write(undefined);
    await here.time.advance(2000);
    expect([...log, here.lease.exists]).toEqual(['lead', '404 NotFound', 'lost', 'lead', true]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test('the lead ends at the deadline after the last successful renewal, even during a request', async () => {
    const here = world();
    const candidate = stand(here, 'a');
    await here.time.advance(2000);
    candidate.link.interfere = () => silence;
    await here.time.advance(9999);
    expect([candidate.candidacy.isLeader, candidate.signals[0]?.aborted]).toEqual([true, false]);
    await here.time.advance(1);
    expect([candidate.candidacy.isLeader, candidate.signals[0]?.aborted]).toEqual([false, true]);
    expect(candidate.log).toEqual(['lead', '0 ETIMEDOUT', '0 AbortError', 'lost']);
  });

  test('isLeader is false after a pause of the process, before any timer runs', async () => {
    const here = world();
    const first = stand(here, 'a');
    await here.time.settle();
    here.time.jump(11_000);
    expect([first.candidacy.isLeader, first.signals[0]?.aborted]).toEqual([false, false]);
    here.lease.write({ spec: { holderIdentity: 'b', leaseDurationSeconds: 15 } });
    await here.time.advance(0);
    expect([first.candidacy.isLeader, first.signals[0]?.aborted]).toEqual([false, true]);
  });
});

test('the leader keeps the lead when an answer is lost', async () => {
  const here = world();
  const candidate = stand(here, 'a');
  await here.time.settle();
  candidate.link.interfere = (request) => {
    candidate.link.interfere = () => undefined;
    here.lease.answer(request);
    return { kind: 'error', error: networkError() };
  };
  await here.time.advance(20_000);
  expect(candidate.log).toEqual(['lead', '0 ECONNRESET', '409 Conflict']);
});

test('the leader keeps the lead when errors last less than the deadline', async () => {
  const here = world();
  const candidate = stand(here, 'a');
  await here.time.settle();
  candidate.link.interfere = () => refusal(500, 'InternalError');
  await here.time.advance(7000);
  candidate.link.interfere = () => undefined;
  await here.time.advance(20_000);
  expect([candidate.candidacy.isLeader, new Set(candidate.log)]).toEqual([
    true,
    new Set(['lead', '500 InternalError']),
  ]);
});

test('stop releases the Lease, and the next candidate takes it with its next read', async () => {
  const here = world();
  const first = stand(here, 'a');
  await here.time.settle();
  const second = stand(here, 'b');
  await here.time.advance(5000);
  const stopping = first.candidacy.stop();
  expect([first.candidacy.isLeader, first.signals[0]?.aborted]).toEqual([false, true]);
  await stopping;
  expect(here.lease.spec).toMatchObject({ holderIdentity: '', leaseTransitions: 0 });
  await here.time.advance(2000);
  expect([second.candidacy.isLeader, ...first.log]).toEqual([true, 'lead']);
  expect(here.lease.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
});

test('stop does not change the Lease of another process', async () => {
  const here = world();
  here.lease.write({ spec: { holderIdentity: 'b' } });
  const { candidacy, server } = stand(here, 'a');
  await here.time.advance(1000);
  await candidacy.stop();
  expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
});

test('stop releases a Lease that an aborted request has claimed', async () => {
  const here = world();
  const candidate = stand(here, 'a');
  candidate.link.interfere = (request) => {
    // The claim, and not the release that follows.
    if (request.method !== 'PUT' || here.lease.spec['holderIdentity'] !== undefined) return undefined;
    here.lease.answer(request);
    return silence;
  };
  await here.time.settle();
  await candidate.candidacy.stop();
  expect([here.lease.spec['holderIdentity'], ...candidate.log]).toEqual(['']);
});

test('stop waits at most one second when the API server does not answer', async () => {
  const here = world();
  const candidate = stand(here, 'a');
  await here.time.settle();
  candidate.link.interfere = () => silence;
  const stopping = candidate.candidacy.stop();
  await here.time.advance(1000);
  await stopping;
  expect(here.time.sleeping).toEqual([]);
});

interface Stubborn {
  readonly candidacy: Candidacy;
  readonly log: string[];
}

/** Uses a client that ignores signals and finishes every request. */
function standStubbornly(
  { time, lease }: World,
  onLead: (signal: AbortSignal) => void,
  onWrite = () => undefined,
): Stubborn {
  const log: string[] = [];
  const server = new FakeApiServer(time, (request) => lease.answer(request));
  const client: KubeClient = {
    request: ({ signal: _signal, ...request }) => {
      if (request.method !== 'GET') onWrite();
      return server.request(request);
    },
    stream: (request) => server.stream(request),
    close: () => undefined,
  };
  const candidacy = electLeader(
    client,
    {
      namespace: 'reeve-system',
      name: 'reeve-leader',
      identity: 'a',
      clock: time,
    },
    {
      onLead: (signal) => {
        log.push('lead');
        onLead(signal);
      },
      onLost: () => log.push('lost'),
    },
  );
  return { candidacy, log };
}

test('a candidate that stops during its claim does not lead', async () => {
  const here = world();
  const { candidacy, log } = standStubbornly(
    here,
    () => undefined,
    () => void candidacy.stop(),
  );
  await here.time.settle();
  await candidacy.stopped;
  expect([candidacy.isLeader, here.lease.spec['holderIdentity'], ...log]).toEqual([false, '']);
});

test('an exception of a listener rejects stopped and ends the lead', async () => {
  const mistake = new Error('an error of the program');
  let lead: AbortSignal | undefined;
  const { candidacy } = standStubbornly(world(), (signal) => {
    lead = signal;
    throw mistake;
  });
  await expect(candidacy.stopped).rejects.toBe(mistake);
  expect([candidacy.isLeader, lead?.aborted]).toEqual([false, true]);
});
