// One replica by itself: when its certificate is renewed, what releases an authority, and that it never writes without end.
import { describe, expect, test } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import {
  bundleOf,
  type Authority,
  type AuthorityState,
} from '../../../../src/certs/authority/authority-state.ts';
import type { FoundState } from '../../../../src/certs/authority/authority-steps.ts';
import { AuthorityReplica } from '../../../../src/certs/authority/authority-replica.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const minute = 60_000;
const settings = { certLifetime: 60 * minute, caSettling: minute };
const caMs = 600 * minute;
const begin = Date.parse('2026-06-01T12:00:00Z');
const signal = new AbortController().signal;

class Bench {
  readonly time = new VirtualClock({ start: new Date(begin), chance: 0.5 });
  readonly told: string[] = [];
  readonly replica: AuthorityReplica;
  found: FoundState = { kind: 'missing' };
  isAway = false;
  /** False as if a user had made the Secret immutable. */
  isWritable = true;
  /** Authorities that cannot sign. */
  readonly unusable = new Set<string>();
  isServed = false;
  #made = 0;

  constructor() {
    this.replica = new AuthorityReplica(settings, {
      clock: this.time,
      isServed: () => Promise.resolve(this.isServed),
      secret: { read: async () => await this.#read(), write: (_, state) => this.#write(state) },
      issuer: {
        authority: (now) => Promise.resolve(this.authority(now)),
        serving: (signer, now) => {
          if (this.unusable.has(signer.certPem)) return Promise.resolve(undefined);
          const notAfter = new Date(now + settings.certLifetime);
          return Promise.resolve({ cert: signer.certPem, key: '', fingerprint: '', notAfter });
        },
      },
      observer: {
        stepped: (kind, cause) => this.told.push(`${kind}: ${cause ?? 'in time'}`),
        learned: () => undefined,
        renewed: ({ cert }) => this.told.push(`signed by ${cert}`),
      },
    });
  }

  authority(now = begin + this.time.monotonic()): Authority {
    this.#made += 1;
    return { certPem: `<${this.#made}>`, keyPem: 'key', createdAt: now, notAfter: now + caMs };
  }

  get state(): AuthorityState {
    if (this.found.kind !== 'whole') throw new Error(`it is ${this.found.kind}`);
    return this.found.state;
  }

  /** What a round told. */
  async round(): Promise<readonly string[]> {
    this.told.length = 0;
    await this.replica.round(signal);
    return [...this.told];
  }

  #read() {
    if (this.isAway)
      return Promise.reject(new KubeError({ code: 0, reason: 'ECONNREFUSED', retryable: true }));
    return Promise.resolve({ found: this.found, object: undefined });
  }

  #write(state: AuthorityState): Promise<boolean> {
    if (!this.isWritable)
      return Promise.reject(new KubeError({ code: 422, reason: 'Invalid', retryable: false }));
    this.found = { kind: 'whole', state };
    return Promise.resolve(true);
  }
}

test('the first replica creates an authority and a certificate once', async () => {
  const bench = new Bench();
  expect(await bench.round()).toEqual(['created: in time', 'signed by <1>']);
  expect(await bench.round()).toEqual([]);
});

test('a certificate is renewed at two thirds of its lifetime', async () => {
  const bench = new Bench();
  await bench.round();
  await bench.time.advance(40 * minute - 1);
  expect(await bench.round()).toEqual([]);
  await bench.time.advance(1);
  expect(await bench.round()).toEqual(['signed by <1>']);
});

test('a certificate is renewed as soon as another authority signs', async () => {
  const bench = new Bench();
  await bench.round();
  const [signing, old] = [bench.authority(), bench.state.signing?.certPem ?? ''];
  const retired = [{ certPem: old, until: begin + caMs }];
  bench.found = { kind: 'whole', state: { signing, retired } };
  expect(await bench.round()).toEqual(['signed by <2>']);
});

test('a due renewal waits while the API server is unreachable, and the old certificate stays in use', async () => {
  const bench = new Bench();
  await bench.round();
  await bench.time.advance(50 * minute);
  bench.isAway = true;
  await expect(bench.round()).rejects.toBeInstanceOf(KubeError);
  expect(bench.replica.pair?.cert).toBe('<1>');
  bench.isAway = false;
  expect(await bench.round()).toEqual(['signed by <1>']);
});

test('a certificate is issued and renewed until its authority expires, although the Secret cannot be written', async () => {
  const bench = new Bench();
  const signing = bench.authority();
  const over = { certPem: '<over>', until: begin };
  bench.found = { kind: 'whole', state: { signing, retired: [over] } };
  bench.isWritable = false;
  const round = async (): Promise<readonly string[]> => {
    await expect(bench.round()).rejects.toBeInstanceOf(KubeError);
    return [...bench.told];
  };
  expect(await round()).toEqual(['signed by <1>']);
  expect(await round()).toEqual([]);
  for (let renewals = 0; renewals < 14; renewals += 1) {
    await bench.time.advance(40 * minute);
    expect(await round()).toEqual(['signed by <1>']);
  }
  await bench.time.advance(40 * minute);
  expect(await round()).toEqual([]);
  bench.isWritable = true;
  expect(await bench.round()).toEqual(['created: expired']);
});

describe('the release of the next authority', () => {
  const withNext = async (): Promise<Bench> => {
    const bench = new Bench();
    await bench.round();
    await bench.time.advance(400 * minute);
    expect(await bench.round()).toEqual(['added: in time', 'signed by <1>']);
    return bench;
  };

  test('the next authority signs once all checks during the settling time have found its bundle', async () => {
    const bench = await withNext();
    const bundle = bundleOf(bench.state);
    expect(bench.replica.confirm(bundle)).toBe(minute);
    for (const left of [45_000, 30_000, 15_000]) {
      await bench.time.advance(15_000);
      expect(bench.replica.confirm(bundle)).toBe(left);
    }
    await bench.time.advance(14_000);
    expect(await bench.round()).toEqual([]);
    await bench.time.advance(1000);
    expect(await bench.round()).toEqual([]);
    expect(bench.replica.confirm(bundle)).toBe(0);
    expect(await bench.round()).toEqual(['released: in time', 'signed by <2>']);
    expect(bench.replica.confirm(bundleOf(bench.state))).toBeUndefined();
  });

  test('a check after a long gap starts the settling time again', async () => {
    const bench = await withNext();
    const bundle = bundleOf(bench.state);
    bench.replica.confirm(bundle);
    await bench.time.advance(2 * minute);
    expect(bench.replica.confirm(bundle)).toBe(minute);
    expect(await bench.round()).toEqual([]);
  });

  test('a check that finds another bundle starts the settling time again', async () => {
    const bench = await withNext();
    const bundle = bundleOf(bench.state);
    bench.replica.confirm(bundle);
    await bench.time.advance(15_000);
    bench.replica.doubt();
    expect(bench.replica.confirm(bundle)).toBe(minute);
  });

  test('checks that find another bundle never release the next authority', async () => {
    const bench = await withNext();
    for (let looks = 0; looks < 20; looks += 1) {
      expect(bench.replica.confirm('<1>')).toBeUndefined();
      await bench.time.advance(10_000);
    }
    expect(await bench.round()).toEqual([]);
  });
});

test('each repair waits twice as long as the last, and after a quiet time the next repair is immediate', async () => {
  const bench = new Bench();
  await bench.round();
  const broken: FoundState = { kind: 'corrupt' };
  bench.found = broken;
  expect(await bench.round()).toContain('created: corrupt');
  const waits: number[] = [];
  for (let times = 0; times < 6; times += 1) {
    bench.found = broken;
    const error: unknown = await bench.round().catch((reason: unknown) => reason);
    const { reason, retryAfterMs = 0 } = error as KubeError;
    expect(reason).toBe('RecoveredJustNow');
    waits.push(retryAfterMs);
    await bench.time.advance(retryAfterMs);
    expect(await bench.round()).toContain('created: corrupt');
  }
  expect(waits).toEqual([300, 600, 1200, 2400, 4800, 9600]);
  await bench.time.advance(6 * minute);
  bench.found = broken;
  expect(await bench.round()).toContain('created: corrupt');
  bench.found = broken;
  const error: unknown = await bench.round().catch((reason: unknown) => reason);
  expect((error as KubeError).retryAfterMs).toBe(300);
});

test('a signing authority that cannot sign is replaced', async () => {
  const bench = new Bench();
  bench.isServed = true;
  bench.unusable.add('<1>');
  bench.found = { kind: 'whole', state: { signing: bench.authority(), retired: [] } };
  expect(await bench.round()).toEqual(['created: corrupt']);
  expect(bench.state).toMatchObject({ next: { certPem: '<2>' }, retired: [] });
  expect(bench.replica.pair).toBeUndefined();
  // Other replicas may serve, so API servers must learn the new authority first; no replica can release it.
  await bench.time.advance(settings.caSettling + 15_000);
  expect(await bench.round()).toEqual(['signed by <2>']);
});

test('a next authority that cannot sign is replaced once it has to sign', async () => {
  const bench = new Bench();
  bench.isServed = true;
  bench.unusable.add('<1>');
  bench.found = { kind: 'whole', state: { next: bench.authority(), retired: [] } };
  expect(await bench.round()).toEqual([]);
  await bench.time.advance(settings.caSettling + 15_000);
  expect(await bench.round()).toEqual(['created: corrupt', 'signed by <2>']);
});
