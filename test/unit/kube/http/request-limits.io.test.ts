// Repeats a request after a 429, as long as the request has time left.
import { expect, test } from 'vitest';
import type { KubeError } from '../../../../src/base/kube-error.ts';
import { refusal } from '../../../support/fake-api-server.ts';
import { clientOf, rejectionOf, sendJson, startStub, statusOf } from '../stub-api-server.ts';
import { onceAdmitted } from '../../../../src/kube/http/https-client.ts';

function refusedWith(code: number, retryAfterMs?: number): KubeError {
  const answer = refusal(code, 'TooManyRequests', retryAfterMs === undefined ? {} : { retryAfterMs });
  if (answer.kind !== 'error') throw new Error('a refusal is an error');
  return answer.error;
}

interface Case {
  readonly name: string;
  readonly results: readonly (KubeError | 'done')[];
  readonly random?: number;
  readonly waits: readonly number[];
  readonly end: unknown;
}

const cases: readonly Case[] = [
  { name: 'without a refusal it is sent once', results: ['done'], waits: [], end: 'done' },
  {
    name: 'it is repeated after the required wait, each time',
    results: [refusedWith(429, 1000), refusedWith(429, 2000), 'done'],
    waits: [1000, 2000],
    end: 'done',
  },
  {
    name: 'the wait is spread up to twice the required time',
    results: [refusedWith(429, 1000), 'done'],
    random: 0.5,
    waits: [1500],
    end: 'done',
  },
  {
    name: 'it is not repeated when the wait exceeds the time left',
    results: [refusedWith(429, 4000), refusedWith(429, 6000), 'done'],
    waits: [4000],
    end: refusedWith(429, 6000),
  },
  {
    name: 'it is not repeated without a required wait',
    results: [refusedWith(429), 'done'],
    waits: [],
    end: refusedWith(429),
  },
  {
    name: 'it is not repeated when it may have been executed',
    results: [refusedWith(503, 1000), 'done'],
    waits: [],
    end: refusedWith(503, 1000),
  },
];

test.for(cases)('a request: $name', async ({ results, random = 0, waits, end }) => {
  const left = [...results];
  const slept: number[] = [];
  const signal = new AbortController().signal;
  const limits = {
    signal,
    get leftMs() {
      return 10_000 - slept.reduce((sum, each) => sum + each, 0);
    },
  };
  const send = (): Promise<string> => {
    const next = left.shift();
    return next === 'done' ? Promise.resolve(next) : Promise.reject(next ?? new Error('no more'));
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

test('the client repeats even a POST after a 429', async () => {
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

test('the caller may abort during the wait', async () => {
  const caller = new AbortController();
  const stub = await startStub((response) => {
    sendJson(response, statusOf(429, 'TooManyRequests'), 429, { 'Retry-After': '1' });
    caller.abort('gone');
  });
  const request = { method: 'GET', path: '/x', signal: caller.signal } as const;
  expect(await rejectionOf(clientOf(stub).request(request))).toBe('gone');
  expect(stub.requests).toHaveLength(1);
});
