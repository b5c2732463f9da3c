// Checks that two processes never lead at the same time, for any delays of network and scheduler.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { KubeClient, KubeRequest } from '../../../../src/kube/http/client.ts';
import { electLeader } from '../../../../src/kube/lease/lease.ts';
import { FakeApiServer, FakeObject, networkError } from '../../../support/fake-api-server.ts';
import type { Clock } from '../../../../src/base/clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

type Candidacy = ReturnType<typeof electLeader>;

const path = '/apis/coordination.k8s.io/v1/namespaces/n/leases/l';

/** The delays of one request and of its answer, and which of them is lost. */
interface Fate {
  readonly there: number;
  readonly back: number;
  readonly lost: 'no' | 'request' | 'answer';
}

/** After `runs` milliseconds the process pauses for `stands` milliseconds, as with SIGSTOP. */
interface Pause {
  readonly runs: number;
  readonly stands: number;
}

const delay = fc.oneof(fc.constant(5), fc.integer({ min: 0, max: 12_000 }));
const fate: fc.Arbitrary<Fate> = fc.record({
  there: delay,
  back: delay,
  lost: fc.constantFrom('no', 'no', 'no', 'request', 'answer'),
});
const pauses: fc.Arbitrary<readonly Pause[]> = fc.array(
  fc.record({ runs: fc.integer({ min: 0, max: 30_000 }), stands: fc.integer({ min: 0, max: 30_000 }) }),
  { maxLength: 4 },
);
const process = fc.record({
  fates: fc.array(fate, { maxLength: 40 }),
  pauses,
  chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
});

/** Delays everything that a paused process waits for until the process continues. */
class Scheduler {
  readonly #time: VirtualClock;
  readonly #pauses: readonly { readonly from: number; readonly until: number }[];

  constructor(time: VirtualClock, pausesInTurn: readonly Pause[]) {
    this.#time = time;
    let at = 0;
    this.#pauses = pausesInTurn.map(({ runs, stands }) => {
      const from = at + runs;
      at = from + stands;
      return { from, until: at };
    });
  }

  clock(chance: number): Clock {
    return {
      now: () => new Date(0),
      monotonic: () => this.#time.monotonic(),
      random: () => chance,
      sleep: async (milliseconds, signal) => {
        await this.#time.sleep(milliseconds, signal);
        await this.continues();
      },
    };
  }

  async continues(): Promise<void> {
    const now = this.#time.monotonic();
    const pause = this.#pauses.find(({ from, until }) => from <= now && now < until);
    if (pause !== undefined) await this.#time.sleep(pause.until - now);
  }
}

/** A client that also delivers requests that the caller has aborted. */
function unreliable(
  time: VirtualClock,
  scheduler: Scheduler,
  store: FakeObject,
  fates: readonly Fate[],
): KubeClient {
  let count = 0;
  const server = new FakeApiServer(time, async (request: KubeRequest) => {
    const { there, back, lost } = fates[count] ?? { there: 5, back: 5, lost: 'no' };
    count += 1;
    await time.sleep(there);
    if (lost === 'request') throw networkError();
    const answer = store.answer(request);
    await time.sleep(back);
    if (lost === 'answer') throw networkError();
    return answer;
  });
  return {
    request: async (request): Promise<JsonObject> => {
      try {
        return await server.request(request);
      } finally {
        await scheduler.continues();
      }
    },
    stream: (request) => server.stream(request),
    close: () => server.close(),
  };
}

test('at most one process leads at any time, and one leads after all delays are over', async () => {
  let handovers = 0;
  await fc.assert(
    fc.asyncProperty(process, process, async (first, second) => {
      const time = new VirtualClock();
      const store = new FakeObject(path);
      const candidacies: readonly Candidacy[] = [first, second].map(
        ({ fates, pauses: stops, chance }, index) => {
          const scheduler = new Scheduler(time, stops);
          const options = {
            namespace: 'n',
            name: 'l',
            identity: `process-${index}`,
            clock: scheduler.clock(chance),
          };
          const client = unreliable(time, scheduler, store, fates);
          return electLeader(client, options, { onLead: () => undefined, onLost: () => undefined });
        },
      );
      const leaders = (): readonly number[] =>
        candidacies.flatMap(({ isLeader }, index) => (isLeader ? [index] : []));
      let last: number | undefined;
      for (let step = 0; step < 1200; step += 1) {
        await time.advance(250);
        const now = leaders();
        expect(now.length).toBeLessThanOrEqual(1);
        if (now[0] !== undefined && last !== undefined && now[0] !== last) handovers += 1;
        last = now[0] ?? last;
      }
      expect(leaders()).toHaveLength(1);
      const stopping = Promise.all(candidacies.map((candidacy) => candidacy.stop()));
      await time.advance(10_000);
      await stopping;
      expect(store.spec['holderIdentity']).toBe('');
    }),
    // At least 60: fewer runs can pass without a single handover.
    { numRuns: Math.max(60, propertyRuns(60)) },
  );
  // Without a handover the schedules would prove nothing.
  expect(handovers).toBeGreaterThan(0);
});
