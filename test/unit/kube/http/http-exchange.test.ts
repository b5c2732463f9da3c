// Reads the body of an answer to its end, and gives up when its connection is closed before.
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readAnswerBody } from '../../../../src/kube/http/http-exchange.ts';

test('a body that is closed before its end, without an error, is an error', async () => {
  const response = new PassThrough();
  // `readAnswerBody` uses it as a stream.
  const body = readAnswerBody(response as unknown as IncomingMessage, 100);
  response.write('{');
  response.destroy();
  await expect(body).rejects.toMatchObject({ reason: 'ConnectionClosed' });
});
