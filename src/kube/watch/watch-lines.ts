// Cuts the bytes of a watch into lines, however the network has cut them.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import { isUtf8 } from 'node:buffer';
import { malformedAnswer } from '../http/answer-fault.ts';

const newline = 0x0a;

/** An object is a few MiB at most; what is longer is no watch, and would fill the memory. */
const mostLineBytes = 64 * 1024 * 1024;

/** Whole lines only: what stands after the last one was cut off. Throws a KubeError, or what the chunks throw. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  mostBytes = mostLineBytes,
): AsyncGenerator<string> {
  const line = new LineBuffer(mostBytes);
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      line.add(chunk.subarray(from, end));
      from = end + 1;
      const text = line.take();
      if (text.trim() !== '') yield text;
    }
    line.add(chunk.subarray(from));
  }
}

/** Bytes, not text: a chunk may end inside a character. */
class LineBuffer {
  readonly #mostBytes: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  add(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > this.#mostBytes) throw malformedAnswer();
    if (part.length > 0) this.#parts.push(part);
  }

  take(): string {
    const bytes = Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    return decoded(bytes);
  }
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformedAnswer();
  return bytes.toString('utf8');
}
