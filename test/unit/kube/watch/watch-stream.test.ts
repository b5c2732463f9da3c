// Reads lines from bytes that are cut anywhere.
import { expect, test } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import { linesOf } from '../../../../src/kube/watch/watch-stream.ts';

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function allOf(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

const text = '{"a":"ä€𝄞"}\n\n{"b":1}\r\n{"cut off":';

test.for([1, 2, 3, 4, 5, 7, 1000])('lines are read from chunks of %d bytes', async (size) => {
  const lines = await allOf(linesOf(chunksOf(Buffer.from(text), size)));
  expect(lines.map((line) => line.trim())).toEqual(['{"a":"ä€𝄞"}', '{"b":1}']);
});

test.for([
  ['a line that is too long', Buffer.alloc(100, 'x')],
  ['a line that is not UTF-8', Buffer.from([0x7b, 0xff, 0x0a])],
] as const)('%s is a malformed answer', async ([, bytes]) => {
  const reading = allOf(linesOf(chunksOf(bytes, 8), 64));
  await expect(reading).rejects.toThrow(
    new KubeError({ code: 200, reason: 'MalformedAnswer', retryable: true }),
  );
});
