// Who leads, from when, until when, and what the Lease says about it.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubeClient, KubeRequest } from '../../../../src/kube/http/client.ts';
import { electLeader } from '../../../../src/kube/lease/lease.ts';
import type { Candidacy, LeaseOptions } from '../../../../src/kube/lease/lease.ts';
import {
  FakeApiServer,
  FakeObject,
  networkError,
  refusal,
  silence,
} from '../../../support/fake-api-server.ts';
import type { Answer, Script } from '../../../support/fake-api-server.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

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
  /** `lead` and `lost`, in their order, and the troubles between them. */
  readonly heard: string[];
  readonly signals: AbortSignal[];
  readonly link: Link;
}

/** Stands between a candidate and the Lease. */
interface Link {
  interfere: (request: KubeRequest) => Answer | undefined;
}

function stand({ time, lease }: World, identity: string, more: Partial<LeaseOptions> = {}): Candidate {
  const heard: string[] = [];
  const signals: AbortSignal[] = [];
  const link: Link = { interfere: () => undefined };
  const script: Script = (request) => link.interfere(request) ?? lease.answer(request);
  const server = new FakeApiServer(time, script);
  const options = {
    namespace: 'reeve-system',
    name: 'reeve-leader',
    identity,
    clock: time,
    onError: ({ code, reason }: { code: number; reason: string }) => heard.push(`${code} ${reason}`),
    ...more,
  };
  const listener = {
    onLead: (signal: AbortSignal) => {
      heard.push('lead');
      signals.push(signal);
    },
    onLost: () => heard.push('lost'),
  };
  const candidacy = electLeader(server, options, listener);
  onTestFinished(async () => {
    link.interfere = () => refusal(404, 'NotFound');
    await candidacy.stop();
  });
  return { candidacy, server, heard, signals, link };
}

describe('taking the lead', () => {
  test('makes the Lease when there is none', async () => {
    const here = world();
    const { candidacy, heard } = stand(here, 'a');
    await here.time.settle();
    expect([candidacy.isLeader, ...heard]).toEqual([true, 'lead']);
    expect(here.lease.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2030-01-01T00:00:00.000000Z',
      renewTime: '2030-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
  });

  test('renews every two seconds, and leaves the rest of the Lease as it is', async () => {
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
      'its own duration, whatever its times say',
      { leaseDurationSeconds: 4, renewTime: '1999-01-01T00:00:00.000000Z' },
      4000,
    ],
    ['that of the candidate where it names none', {}, 15_000],
    ['a few of those, though it names years', { leaseDurationSeconds: 2_147_483_647 }, 60_000],
  ] as const)('waits until the record of another was the same for %s', async ([, spec, expected]) => {
    const here = world();
    here.lease.write({ spec: { ...spec, holderIdentity: 'gone' } });
    const { candidacy } = stand(here, 'a');
    await here.time.advance(expected - 1);
    expect(candidacy.isLeader).toBe(false);
    await here.time.advance(1);
    expect(candidacy.isLeader).toBe(true);
  });

  test('waits anew after each sign of life of another', async () => {
    const here = world();
    const first = stand(here, 'a');
    await here.time.settle();
    const second = stand(here, 'b');
    await here.time.advance(60_000);
    expect([first.heard, second.heard]).toEqual([['lead'], []]);
    first.link.interfere = () => silence;
    await here.time.advance(17_000);
    expect([first.candidacy.isLeader, second.candidacy.isLeader]).toEqual([false, true]);
    expect(here.lease.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test('goes on trying, whatever the API server says, as slowly as it asks', async () => {
    const here = world();
    const candidate = stand(here, 'a');
    const refusals = [
      refusal(403, 'Forbidden'),
      refusal(429, 'TooManyRequests', { retryAfterMs: 5000 }),
      refusal(0, 'ECONNREFUSED'),
    ];
    candidate.link.interfere = () => refusals.shift();
    await here.time.advance(8999);
    expect(candidate.heard).toEqual(['403 Forbidden', '429 TooManyRequests', '0 ECONNREFUSED']);
    await here.time.advance(1);
    expect(candidate.candidacy.isLeader).toBe(true);
  });
});

describe('losing the lead', () => {
  test('at once when another holds the Lease', async () => {
    const here = world();
    const { candidacy, heard, signals } = stand(here, 'a');
    await here.time.settle();
    here.lease.write({ spec: { holderIdentity: 'b', leaseDurationSeconds: 15 } });
    await here.time.advance(2000);
    expect([candidacy.isLeader, signals[0]?.aborted, ...heard]).toEqual([
      false,
      true,
      'lead',
      '409 Conflict',
      'lost',
    ]);
    await here.time.advance(15_000);
    expect([candidacy.isLeader, signals[1]?.aborted]).toEqual([true, false]);
  });

  test('at once when the Lease is gone, and it makes a new one', async () => {
    const here = world();
    const { heard, signals } = stand(here, 'a');
    await here.time.settle();
    here.lease.write(undefined);
    await here.time.advance(2000);
    expect([...heard, here.lease.isThere]).toEqual(['lead', '404 NotFound', 'lost', 'lead', true]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test('at the deadline, counted from when the last good renewal was sent, while a request is on its way', async () => {
    const here = world();
    const candidate = stand(here, 'a');
    await here.time.advance(2000);
    candidate.link.interfere = () => silence;
    await here.time.advance(9999);
    expect([candidate.candidacy.isLeader, candidate.signals[0]?.aborted]).toEqual([true, false]);
    await here.time.advance(1);
    expect([candidate.candidacy.isLeader, candidate.signals[0]?.aborted]).toEqual([false, true]);
    expect(candidate.heard).toEqual(['lead', '0 ETIMEDOUT', '0 AbortError', 'lost']);
  });

  test('by being paused is known to the clock before any timer', async () => {
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

describe('keeping the lead', () => {
  test('over an answer that got lost', async () => {
    const here = world();
    const candidate = stand(here, 'a');
    await here.time.settle();
    candidate.link.interfere = (request) => {
      candidate.link.interfere = () => undefined;
      here.lease.answer(request);
      return { kind: 'error', error: networkError() };
    };
    await here.time.advance(20_000);
    expect(candidate.heard).toEqual(['lead', '0 ECONNRESET', '409 Conflict']);
  });

  test('over errors for less than the deadline', async () => {
    const here = world();
    const candidate = stand(here, 'a');
    await here.time.settle();
    candidate.link.interfere = () => refusal(500, 'InternalError');
    await here.time.advance(7000);
    candidate.link.interfere = () => undefined;
    await here.time.advance(20_000);
    expect([candidate.candidacy.isLeader, new Set(candidate.heard)]).toEqual([
      true,
      new Set(['lead', '500 InternalError']),
    ]);
  });
});

describe('stop', () => {
  test('leaves the Lease to the next, who takes it with its next look', async () => {
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
    expect([second.candidacy.isLeader, ...first.heard]).toEqual([true, 'lead']);
    expect(here.lease.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test('leaves the Lease of another alone', async () => {
    const here = world();
    here.lease.write({ spec: { holderIdentity: 'b' } });
    const { candidacy, server } = stand(here, 'a');
    await here.time.advance(1000);
    await candidacy.stop();
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('releases what a request that was on its way has taken', async () => {
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
    expect([here.lease.spec['holderIdentity'], ...candidate.heard]).toEqual(['']);
  });

  test('does not wait for long for an API server that does not answer', async () => {
    const here = world();
    const candidate = stand(here, 'a');
    await here.time.settle();
    candidate.link.interfere = () => silence;
    const stopping = candidate.candidacy.stop();
    await here.time.advance(1000);
    await stopping;
    expect(here.time.sleeping).toEqual([]);
  });
});

interface Heedless {
  readonly candidacy: Candidacy;
  readonly heard: string[];
}

/** With a client that finishes what it has begun, whatever its signal says. */
function standHeedlessly(
  { time, lease }: World,
  onLead: (signal: AbortSignal) => void,
  onWrite = () => undefined,
): Heedless {
  const heard: string[] = [];
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
        heard.push('lead');
        onLead(signal);
      },
      onLost: () => heard.push('lost'),
    },
  );
  return { candidacy, heard };
}

test('whoever stops while taking the lead does not lead', async () => {
  const here = world();
  const { candidacy, heard } = standHeedlessly(
    here,
    () => undefined,
    () => void candidacy.stop(),
  );
  await here.time.settle();
  await candidacy.stopped;
  expect([candidacy.isLeader, here.lease.spec['holderIdentity'], ...heard]).toEqual([false, '']);
});

test('an exception of a listener is not swallowed, and ends the lead', async () => {
  const fault = new Error('a fault of the program');
  let lead: AbortSignal | undefined;
  const { candidacy } = standHeedlessly(world(), (signal) => {
    lead = signal;
    throw fault;
  });
  await expect(candidacy.stopped).rejects.toBe(fault);
  expect([candidacy.isLeader, lead?.aborted]).toEqual([false, true]);
});
