import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../src/sandbox/api-error.ts';
import { readProtobuf } from '../../../../src/sandbox/http/body.ts';

interface Sent {
  readonly sent: string;
  readonly body: string;
  readonly object: unknown;
}

/** Bodies of kubectl 1.32 and of k8s.io/apimachinery 0.36, one for each kind, with their JSON. */
const fixture = join(import.meta.dirname, '../../../fixtures/sandbox/protobuf-bodies.json');
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
const bodies = JSON.parse(readFileSync(fixture, 'utf8')) as readonly Sent[];

const bytesOf = ({ body }: Sent): Buffer => Buffer.from(body, 'base64');

function outcome(bytes: Buffer): unknown {
  try {
    return readProtobuf(bytes);
  } catch (error) {
    if (error instanceof ApiError) return `${error.status.code} ${error.status.message}`;
    throw error;
  }
}

test.for(bodies)('$sent', (sent) => {
  expect(outcome(bytesOf(sent))).toStrictEqual(sent.object);
});

type Value = number | string | Buffer;

/** Only small ones, so that the test stays fast. */
function field(id: number, value: Value): Buffer {
  if (typeof value === 'number') return Buffer.from([id * 8, value]);
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([id * 8 + 2, bytes.length]), bytes]);
}

const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields);

function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = message(field(1, apiVersion), field(2, kind));
  return message(Buffer.from('k8s\0'), field(1, type), field(2, raw));
}

const secret = (...fields: readonly Buffer[]): Buffer => envelope('v1', 'Secret', message(...fields));
const metadata = (...fields: readonly Buffer[]): Buffer => secret(field(1, message(...fields)));

describe('bodies that are read', () => {
  const type = { apiVersion: 'v1', kind: 'Secret' };
  test.for([
    ['nothing', secret(), type],
    ['an unknown field', secret(field(9, 'x'), field(3, 'Opaque')), { ...type, type: 'Opaque' }],
    ['the last of many', secret(field(3, 'a'), field(3, 'b')), { ...type, type: 'b' }],
    ['an unset pointer and a set one', secret(field(5, 0)), { ...type, immutable: false }],
    ['an entry without a value', secret(field(2, field(1, 'a'))), { ...type, data: { a: '' } }],
    ['a time, which the server sets', metadata(field(8, field(1, 0))), { ...type, metadata: {} }],
  ] as const)('%s', ([, bytes, object]) => {
    expect(outcome(bytes)).toStrictEqual(object);
  });
});

describe('bodies that are refused', () => {
  const unread = /^415 the sandbox reads objects of this kind in JSON and YAML, not in protobuf/;
  test.for([
    ['nothing', Buffer.alloc(0), /^400 .*does not begin as one/],
    ['JSON', Buffer.from('{"kind":"Secret"}'), /^400 .*does not begin as one/],
    ['an empty envelope', Buffer.from('k8s\0'), unread],
    ['a kind without a table', envelope('apps/v1', 'Deployment', Buffer.alloc(0)), unread],
    ['a name that objects inherit', envelope('v1', '__proto__', Buffer.alloc(0)), unread],
    ['a length beyond the end', secret(Buffer.from([0x1a, 5, 65])), /^400 .*ends too early/],
    ['a negative length', secret(Buffer.from(`1a${'ff'.repeat(9)}01`, 'hex')), /^400 .*ends too early/],
    ['an endless number', secret(Buffer.alloc(40, 0xff)), /^400 .*longer than 64 bits/],
    ['a group', secret(Buffer.from([0x0b])), /^400 .*unknown wire type/],
  ] as const)('%s', ([, bytes, answer]) => {
    expect(outcome(bytes)).toMatch(answer);
  });
});

test('random bytes are read or refused, and the error never quotes them', () => {
  const broken = bodies.map(bytesOf).flatMap((bytes) =>
    [...bytes.keys()].flatMap((at) => {
      const changed = [0, 0x7f, 0xff].map((byte) => {
        const copy = Buffer.from(bytes);
        copy[at] = byte;
        return copy;
      });
      return [bytes.subarray(0, at), ...changed];
    }),
  );
  const words = /^4(00|15) the (body of the request|sandbox) [a-zA-Z0-9 ,:/-]+$/;
  const others = broken.map(outcome).filter((answer) => typeof answer === 'string' && !words.test(answer));
  expect(others).toStrictEqual([]);
});

test('a body with too many parts is refused before it fills the memory', () => {
  const empty = secret(Buffer.alloc(3_000_000, Buffer.from([0x12, 0])));
  expect(outcome(empty)).toMatch(/^400 .*too many parts/);
});
