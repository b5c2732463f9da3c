// Checks when answers are sent: a lonely one at once, those of a busy moment together, none twice.
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AnswerQueue, sendJson } from '../../../../src/admission/http/exchange.ts';

function recorder() {
  const sent: string[] = [];
  const errors: unknown[] = [];
  const clock = { now: 0, monotonic: () => clock.now };
  const queue = new AnswerQueue(clock);
  const send = (body: string, state: Partial<ServerResponse> = {}): void => {
    const fields = { writeHead: () => undefined, end: (text: string) => sent.push(text), ...state };
    // Sending calls nothing else.
    const response = fields as unknown as ServerResponse;
    queue.add({
      send: () => sendJson(response, body),
      sent: () => undefined,
      failed: (error) => errors.push(error),
    });
  };
  return { sent, errors, send, clock };
}

test('a lonely answer is sent at once', async () => {
  const { sent, send } = recorder();
  for (const body of ['a', 'b', 'c']) {
    send(body);
    expect(sent.at(-1)).toBe(body);
    await nextTurn();
  }
});

test('after a turn with several answers, those of the next turn are sent at its end', async () => {
  const { sent, send } = recorder();
  send('a');
  send('b');
  expect(sent).toEqual(['a', 'b']);
  await nextTurn();
  send('c');
  send('d');
  expect(sent).toEqual(['a', 'b']);
  await nextTurn();
  expect(sent).toEqual(['a', 'b', 'c', 'd']);
  send('e');
  await nextTurn();
  send('f');
  expect(sent).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('nothing is sent to a client that disconnects while its answer waits', async () => {
  const { sent, send } = recorder();
  send('a');
  send('b');
  await nextTurn();
  send('c', { destroyed: true });
  send('d');
  await nextTurn();
  expect(sent).toEqual(['a', 'b', 'd']);
});

test('an answer does not wait for more than one of the slow decisions that follow in its turn', async () => {
  const { sent, send, clock } = recorder();
  send('a');
  send('b');
  await nextTurn();
  for (const body of ['c', 'd', 'e', 'f']) {
    clock.now += 20;
    send(body);
  }
  expect(sent).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('an answer that cannot be sent does not keep the others of its turn', async () => {
  const { sent, errors, send } = recorder();
  send('a');
  send('b');
  await nextTurn();
  const error = new Error('x');
  const writeHead = (): never => {
    throw error;
  };
  send('c', { writeHead });
  send('d');
  await nextTurn();
  expect(sent).toEqual(['a', 'b', 'd']);
  expect(errors).toEqual([error]);
});
