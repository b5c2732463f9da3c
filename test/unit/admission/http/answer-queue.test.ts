// Checks when answers are sent: a lonely one at once, those of a busy moment together, none twice.
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AnswerQueue } from '../../../../src/admission/http/answer-queue.ts';

function recorder() {
  const sent: string[] = [];
  const queue = new AnswerQueue();
  const send = (body: string, state: Partial<ServerResponse> = {}): void => {
    const response = { writeHead: () => undefined, end: (text: string) => sent.push(text), ...state };
    // The queue calls nothing else.
    queue.send(response as unknown as ServerResponse, body);
  };
  return { sent, send };
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
