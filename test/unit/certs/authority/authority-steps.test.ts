// Every step in the life of the shared authorities, and when none is due.
import { describe, expect, test } from 'vitest';
import type {
  Authority,
  AuthorityState,
  RetiredAuthority,
} from '../../../../src/certs/authority/authority-state.ts';
import { nextStep, renewalTime, signerFor } from '../../../../src/certs/authority/authority-steps.ts';
import type { Memory, Situation, Step } from '../../../../src/certs/authority/authority-steps.ts';

const minute = 60_000;
const hour = 60 * minute;
const lifeMs = 30 * hour;
const leafMs = 6 * hour;
/** The time at which the step is decided; authorities may have been created at other times. */
const noon = Date.parse('2026-06-01T12:00:00Z');

function authority(name: string, createdAt = noon): Authority {
  return { certPem: name, keyPem: `key of ${name}`, createdAt, notAfter: createdAt + lifeMs };
}
const retired = (name: string, until = noon + hour): RetiredAuthority => ({ certPem: name, until });
const a = authority('a');
const b = authority('b');

function step(
  state: AuthorityState | 'missing' | 'corrupt',
  given: Partial<Situation> = {},
): Step | undefined {
  const found = typeof state === 'string' ? { kind: state } : ({ kind: 'whole', state } as const);
  return nextStep(found, {
    now: noon,
    leafMs,
    settlingMs: minute,
    confirmedMs: 0,
    mayBeServed: false,
    memory: {},
    ...given,
  });
}

/** As at a later, or an earlier, time. */
const at = (afterNoonMs: number): Pick<Situation, 'now'> => ({ now: noon + afterNoonMs });
/** The lifetime of a leaf, and a minute that a replica may take to sign it. */
const untilLeaf = leafMs + minute;

test('no step is due while the signing authority is young', () => {
  for (const now of [0, hour, 20 * hour - 1])
    expect(step({ signing: a, retired: [] }, at(now))).toBeUndefined();
});

describe('without a state', () => {
  test.each(['missing', 'corrupt'] as const)(
    'a new authority signs at once if the state is %s and no other authority is known',
    (found) => {
      expect(step(found)).toEqual({ kind: 'created', state: { retired: [] }, issue: 'signing' });
    },
  );

  test('a new authority does not sign yet if unknown replicas may be serving', () => {
    const expected = { kind: 'created', state: { retired: [] }, issue: 'next' };
    expect(step('missing', { mayBeServed: true })).toEqual(expected);
  });

  test('remembered authorities stay trusted as long as certificates of them can be in use', () => {
    const memory: Memory = {
      state: { signing: a, next: b, retired: [retired('c'), retired('d', noon - 1)] },
      own: retired('c', noon + 2 * hour),
    };
    expect(step('missing', { memory })).toEqual({
      kind: 'created',
      issue: 'next',
      state: {
        retired: [
          retired('c', noon + 2 * hour),
          retired('a', noon + untilLeaf),
          retired('b', noon + untilLeaf),
        ],
      },
    });
  });

  test('a new authority signs at once if all remembered authorities have expired', () => {
    const memory: Memory = { state: { signing: a, retired: [] }, own: retired('a', noon + lifeMs) };
    const expected = { kind: 'created', state: { retired: [] }, issue: 'signing' };
    expect(step('missing', { memory, mayBeServed: true, ...at(lifeMs) })).toEqual(expected);
  });

  test('the signer of the own certificate stays trusted, however long the list is', () => {
    const state: AuthorityState = {
      signing: a,
      retired: Array.from({ length: 10 }, (_, index) => retired(`${index}`, noon + hour + index)),
    };
    const memory: Memory = { own: retired('own', noon + 2 * hour) };
    for (const each of [step(state, { memory }), step('missing', { memory: { ...memory, state } })]) {
      expect(each?.state.retired).toHaveLength(10);
      expect(each?.state.retired).toContainEqual(memory.own);
    }
    const restored = step(state, { memory })?.state ?? state;
    expect(step(restored, { memory })).toBeUndefined();
  });

  test('the bundle stays small, however often the state is lost', () => {
    const many = Array.from({ length: 10 }, (_, index) => retired(`${index}`, noon + hour + index));
    const found = step('missing', { memory: { state: { signing: a, retired: many } } });
    const lost = retired('a', noon + untilLeaf);
    // Authorities of served certificates are among the first or, if new ones have signed meanwhile, among the last.
    expect(found?.state.retired).toEqual([...many.slice(0, 5), ...many.slice(6), lost]);
  });
});

test('a next authority is added at two thirds of the lifetime', () => {
  expect(renewalTime(a)).toBe(noon + 20 * hour);
  expect(step({ signing: a, retired: [] }, at(20 * hour))).toEqual({
    kind: 'added',
    state: { signing: a, retired: [] },
    issue: 'next',
  });
});

const both = { signing: a, next: authority('b', noon + 20 * hour), retired: [] };
test.each([
  [0, false],
  [minute - 1, false],
  [minute, true],
])('a next authority confirmed for %d ms signs: %s', (confirmedMs, isReleased) => {
  expect(step(both, { ...at(20 * hour), confirmedMs })?.kind).toBe(isReleased ? 'released' : undefined);
});

test('a replaced authority loses its key, and stays trusted until its last certificate expires', () => {
  expect(step(both, { ...at(21 * hour), confirmedMs: minute })?.state).toEqual({
    signing: both.next,
    retired: [retired('a', noon + 21 * hour + untilLeaf)],
  });
});

test('a replaced authority is never trusted beyond its own expiry', () => {
  expect(step(both, { ...at(29 * hour), confirmedMs: minute })?.state.retired).toEqual([
    retired('a', noon + lifeMs),
  ]);
});

test('a next authority that is never released is replaced at two thirds of its own lifetime', () => {
  const forgotten = { signing: authority('a', noon + 19 * hour), next: b, retired: [] };
  expect(step(forgotten, at(20 * hour))).toEqual({
    kind: 'added',
    state: { signing: forgotten.signing, retired: [retired('b', noon + 20 * hour + untilLeaf)] },
    issue: 'next',
  });
});

describe('expired authorities', () => {
  test('an expired retired authority is dropped', () => {
    const state = { signing: a, retired: [retired('c', noon), retired('d', noon + 1)] };
    expect(step(state)).toEqual({
      kind: 'dropped',
      state: { signing: a, retired: [retired('d', noon + 1)] },
    });
  });

  test('a process that serves a certificate of an expired authority keeps that authority', () => {
    const state = { signing: a, retired: [retired('c', noon)] };
    expect(step(state, { memory: { own: retired('c', noon + 1) } })).toBeUndefined();
    expect(step(state, { memory: { own: retired('c', noon) } })?.kind).toBe('dropped');
  });

  test('the next authority signs at once when the signing one has expired', () => {
    const next = authority('b', noon + 20 * hour);
    expect(step({ signing: a, next, retired: [] }, at(lifeMs))?.state).toEqual({
      signing: next,
      retired: [],
    });
  });

  test('the next authority does not sign at once while a retired one is trusted', () => {
    const next = authority('b', noon + 20 * hour);
    const left = [retired('c', noon + lifeMs + 1)];
    expect(step({ signing: a, next, retired: left }, at(lifeMs))?.state).toEqual({ next, retired: left });
  });

  test('a new authority signs when both others have expired', () => {
    const state = { signing: a, next: b, retired: [retired('c')] };
    expect(step(state, { ...at(lifeMs), mayBeServed: true })).toEqual({
      kind: 'created',
      state: { retired: [] },
      issue: 'signing',
    });
  });
});

describe('a state that lacks the signer of the own certificate', () => {
  const memory: Memory = { own: retired('ours', noon + hour) };
  test('the signer is restored, and the signing authority of the state becomes the next one', () => {
    expect(step({ signing: a, retired: [retired('c')] }, { memory })).toEqual({
      kind: 'restored',
      state: { next: a, retired: [retired('c'), retired('ours')] },
    });
  });

  test('the next authority of the state stays the next one, and the signing one retires', () => {
    expect(step({ signing: a, next: b, retired: [] }, { memory })?.state).toEqual({
      next: b,
      retired: [retired('ours'), retired('a', noon + untilLeaf)],
    });
  });

  test.each<[string, AuthorityState]>([
    ['signs', { signing: authority('ours'), retired: [] }],
    ['is the next one', { signing: a, next: authority('ours'), retired: [] }],
    ['is retired', { signing: a, retired: [retired('ours', noon + 1)] }],
  ])('the state stays as it is if the own signer %s', (_, state) => {
    expect(step(state, { memory })).toBeUndefined();
  });

  test('the state stays as it is if the own certificate has expired', () => {
    expect(step({ signing: a, retired: [] }, { memory, ...at(hour) })).toBeUndefined();
  });
});

test('after a jump back, authorities of the future count as new', () => {
  const state = { signing: a, next: b, retired: [retired('c')] };
  for (const back of [minute, 1000 * hour]) expect(step(state, at(-back))).toBeUndefined();
});

test('after a jump forward, a replaced authority stays trusted by the processes that serve its certificates', () => {
  const jumped = step({ signing: a, retired: [] }, at(2 * lifeMs));
  expect(jumped).toMatchObject({ kind: 'created', issue: 'signing' });
  const made = { signing: authority('b', noon + 2 * lifeMs), retired: [] };
  expect(step(made, { memory: { own: retired('a', noon + hour) } })).toEqual({
    kind: 'restored',
    state: { next: made.signing, retired: [retired('a', noon + hour)] },
  });
});

test('the next authority signs only for a process that has waited in vain for its release', () => {
  expect(signerFor({ signing: a, next: b, retired: [] }, 10 * hour, minute)).toBe(a);
  const unreleased = { next: b, retired: [] };
  expect(signerFor(unreleased, minute + 14_999, minute)).toBeUndefined();
  expect(signerFor(unreleased, minute + 15_000, minute)).toBe(b);
});
