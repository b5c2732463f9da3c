// A server that has no time is given it, as long as the request has some left itself.
import { expect, test } from 'vitest';
import type { KubeError } from '../../../../src/base/kube-error.ts';
import { refusal } from '../../../support/fake-api-server.ts';
import { clientOf, failureOf, sendJson, startStub, statusOf } from '../stub-api-server.ts';
import { onceAdmitted } from '../../../../src/kube/http/request-limits.ts';

function turnedAway(code: number, retryAfterMs?: number): KubeError {
  const answer = refusal(code, 'TooManyRequests', retryAfterMs === undefined ? {} : { retryAfterMs });
  if (answer.kind !== 'error') throw new Error('a refusal is an error');
  return answer.error;
}

interface Case {
  readonly name: string;
  readonly outcomes: readonly (KubeError | 'done')[];
  readonly random?: number;
  readonly waits: readonly number[];
  readonly end: unknown;
}

const cases: readonly Case[] = [
  { name: 'at once', outcomes: ['done'], waits: [], end: 'done' },
  {
    name: 'after the time that was asked for, each time',
    outcomes: [turnedAway(429, 1000), turnedAway(429, 2000), 'done'],
    waits: [1000, 2000],
    end: 'done',
  },
  {
    name: 'after up to twice that time, by chance',
    outcomes: [turnedAway(429, 1000), 'done'],
    random: 0.5,
    waits: [1500],
    end: 'done',
  },
  {
    name: 'not when there is no time left for that',
    outcomes: [turnedAway(429, 4000), turnedAway(429, 6000), 'done'],
    waits: [4000],
    end: turnedAway(429, 6000),
  },
  {
    name: 'not when no time was asked for',
    outcomes: [turnedAway(429), 'done'],
    waits: [],
    end: turnedAway(429),
  },
  {
    name: 'not when it may have been done',
    outcomes: [turnedAway(503, 1000), 'done'],
    waits: [],
    end: turnedAway(503, 1000),
  },
];

test.for(cases)('$name', async ({ outcomes, random = 0, waits, end }) => {
  const left = [...outcomes];
  const slept: number[] = [];
  const signal = new AbortController().signal;
  const limits = {
    signal,
    get leftMs() {
      return 10_000 - slept.reduce((sum, each) => sum + each, 0);
    },
  };
  const send = (): Promise<string> => {
    const outcome = left.shift();
    return outcome === 'done' ? Promise.resolve(outcome) : Promise.reject(outcome ?? new Error('no more'));
  };
  const clock = {
    random: () => random,
    sleep: (milliseconds: number) => {
      slept.push(milliseconds);
      return Promise.resolve();
    },
  };
  const result = await onceAdmitted(send, limits, clock).catch((error: unknown) => error);
  expect({ waits: slept, end: result }).toEqual({ waits, end });
});

test('the client sends what was turned away again, whatever it was', async () => {
  const stub = await startStub((response) => {
    const refused = stub.requests.length === 1;
    if (refused) sendJson(response, statusOf(429, 'TooManyRequests'), 429, { 'Retry-After': '7' });
    else sendJson(response, { round: stub.requests.length });
  });
  const slept: number[] = [];
  const sleep = (milliseconds: number): Promise<void> => Promise.resolve(void slept.push(milliseconds));
  const client = clientOf(stub, { clock: { random: () => 0, sleep } });
  expect(await client.request({ method: 'POST', path: '/x', body: {} })).toEqual({ round: 2 });
  expect(slept).toEqual([7000]);
});

test('whoever asked may go away while the client waits', async () => {
  const asker = new AbortController();
  const stub = await startStub((response) => {
    sendJson(response, statusOf(429, 'TooManyRequests'), 429, { 'Retry-After': '1' });
    asker.abort('gone');
  });
  const request = { method: 'GET', path: '/x', signal: asker.signal } as const;
  expect(await failureOf(clientOf(stub).request(request))).toBe('gone');
  expect(stub.requests).toHaveLength(1);
});
