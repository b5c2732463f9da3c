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
/** Of the clock of whoever decides; authorities were made at their own times. */
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
/** A leaf lasts so long, and whoever signs one may take a minute for it. */
const untilLeaf = leafMs + minute;

test('nothing is due as long as the one that signs is young', () => {
  for (const now of [0, hour, 20 * hour - 1])
    expect(step({ signing: a, retired: [] }, at(now))).toBeUndefined();
});

describe('without a state', () => {
  test.each(['missing', 'corrupt'] as const)(
    '%s, and nobody knows another: the new one signs at once',
    (found) => {
      expect(step(found)).toEqual({ kind: 'created', state: { retired: [] }, issue: 'signing' });
    },
  );

  test('while others may serve whom this process does not know, the new one has to become known', () => {
    const expected = { kind: 'created', state: { retired: [] }, issue: 'next' };
    expect(step('missing', { mayBeServed: true })).toEqual(expected);
  });

  test('what this process remembers stays trusted, as long as certificates of it can be out there', () => {
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

  test('when all that it remembers has expired, the new one signs at once', () => {
    const memory: Memory = { state: { signing: a, retired: [] }, own: retired('a', noon + lifeMs) };
    const expected = { kind: 'created', state: { retired: [] }, issue: 'signing' };
    expect(step('missing', { memory, mayBeServed: true, ...at(lifeMs) })).toEqual(expected);
  });

  test('however long the list is, who this process is served by stays in it', () => {
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

  test('however often it is lost, the bundle stays small', () => {
    const many = Array.from({ length: 10 }, (_, index) => retired(`${index}`, noon + hour + index));
    const found = step('missing', { memory: { state: { signing: a, retired: many } } });
    const lost = retired('a', noon + untilLeaf);
    // Who serves is among the first ones or, where new ones came to sign meanwhile, among the last ones.
    expect(found?.state.retired).toEqual([...many.slice(0, 5), ...many.slice(6), lost]);
  });
});

describe('an authority that comes of age', () => {
  test('is joined by the next one at two thirds of its life', () => {
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
  ])('the next one, confirmed for %d ms, signs: %s', (confirmedMs, isReleased) => {
    expect(step(both, { ...at(20 * hour), confirmedMs })?.kind).toBe(isReleased ? 'released' : undefined);
  });

  test('loses its key then, and is trusted until the last certificate of it has expired', () => {
    expect(step(both, { ...at(21 * hour), confirmedMs: minute })?.state).toEqual({
      signing: both.next,
      retired: [retired('a', noon + 21 * hour + untilLeaf)],
    });
  });

  test('is not trusted any longer than it is valid', () => {
    expect(step(both, { ...at(29 * hour), confirmedMs: minute })?.state.retired).toEqual([
      retired('a', noon + lifeMs),
    ]);
  });

  test('a next one that nobody releases is replaced when it comes of age itself', () => {
    const forgotten = { signing: authority('a', noon + 19 * hour), next: b, retired: [] };
    expect(step(forgotten, at(20 * hour))).toEqual({
      kind: 'added',
      state: { signing: forgotten.signing, retired: [retired('b', noon + 20 * hour + untilLeaf)] },
      issue: 'next',
    });
  });
});

describe('what is over', () => {
  test('is dropped', () => {
    const state = { signing: a, retired: [retired('c', noon), retired('d', noon + 1)] };
    expect(step(state)).toEqual({
      kind: 'dropped',
      state: { signing: a, retired: [retired('d', noon + 1)] },
    });
  });

  test('is not dropped by whoever serves a certificate of it', () => {
    const state = { signing: a, retired: [retired('c', noon)] };
    expect(step(state, { memory: { own: retired('c', noon + 1) } })).toBeUndefined();
    expect(step(state, { memory: { own: retired('c', noon) } })?.kind).toBe('dropped');
  });

  test('the next one signs at once when the one that signed has expired, and with it all its certificates', () => {
    const next = authority('b', noon + 20 * hour);
    expect(step({ signing: a, next, retired: [] }, at(lifeMs))?.state).toEqual({
      signing: next,
      retired: [],
    });
  });

  test('but not while another one is trusted still', () => {
    const next = authority('b', noon + 20 * hour);
    const left = [retired('c', noon + lifeMs + 1)];
    expect(step({ signing: a, next, retired: left }, at(lifeMs))?.state).toEqual({ next, retired: left });
  });

  test('when nobody is left who could sign, a new one does', () => {
    const state = { signing: a, next: b, retired: [retired('c')] };
    expect(step(state, { ...at(lifeMs), mayBeServed: true })).toEqual({
      kind: 'created',
      state: { retired: [] },
      issue: 'signing',
    });
  });
});

describe('a state that somebody made who did not know our authority', () => {
  const memory: Memory = { own: retired('ours', noon + hour) };
  test('gets it back, and what signs there has to become known first', () => {
    expect(step({ signing: a, retired: [retired('c')] }, { memory })).toEqual({
      kind: 'restored',
      state: { next: a, retired: [retired('c'), retired('ours')] },
    });
  });

  test('of two with keys, the next one stays that', () => {
    expect(step({ signing: a, next: b, retired: [] }, { memory })?.state).toEqual({
      next: b,
      retired: [retired('ours'), retired('a', noon + untilLeaf)],
    });
  });

  test.each<[string, AuthorityState]>([
    ['signs', { signing: authority('ours'), retired: [] }],
    ['is the next one', { signing: a, next: authority('ours'), retired: [] }],
    ['is retired', { signing: a, retired: [retired('ours', noon + 1)] }],
  ])('is left as it is when ours %s', (_, state) => {
    expect(step(state, { memory })).toBeUndefined();
  });

  test('is left as it is when our certificate has expired', () => {
    expect(step({ signing: a, retired: [] }, { memory, ...at(hour) })).toBeUndefined();
  });
});

describe('a clock that jumps', () => {
  test('back: what is of the future is as good as what is new', () => {
    const state = { signing: a, next: b, retired: [retired('c')] };
    for (const back of [minute, 1000 * hour]) expect(step(state, at(-back))).toBeUndefined();
  });

  test('forward: what is replaced stays trusted by those who serve it, whose clock is right', () => {
    const jumped = step({ signing: a, retired: [] }, at(2 * lifeMs));
    expect(jumped).toMatchObject({ kind: 'created', issue: 'signing' });
    const made = { signing: authority('b', noon + 2 * lifeMs), retired: [] };
    expect(step(made, { memory: { own: retired('a', noon + hour) } })).toEqual({
      kind: 'restored',
      state: { next: made.signing, retired: [retired('a', noon + hour)] },
    });
  });
});

describe('who signs', () => {
  test('is the one that may; the next one only for who has waited in vain for its release', () => {
    expect(signerFor({ signing: a, next: b, retired: [] }, 10 * hour, minute)).toBe(a);
    const unreleased = { next: b, retired: [] };
    expect(signerFor(unreleased, minute + 14_999, minute)).toBeUndefined();
    expect(signerFor(unreleased, minute + 15_000, minute)).toBe(b);
  });
});
