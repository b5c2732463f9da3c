// What the head of a request must say before its body is read.
import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { readHead } from '../../../../src/admission/http/exchange.ts';

const limits = { bodyBytes: 1000, requestMs: 30_000 };
const good = { 'content-length': '10', 'content-type': 'application/json' };

function head(headers: Record<string, string | undefined>, url = '/validate') {
  // `readHead` reads only these two fields of a request.
  return readHead({ headers, url } as IncomingMessage, limits);
}

function codeOf(outcome: ReturnType<typeof readHead>): number {
  return outcome.ok ? 200 : outcome.refusal.code;
}

describe('the media type', () => {
  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
  ])('%s is accepted', (type) => {
    expect(codeOf(head({ ...good, 'content-type': type }))).toBe(200);
  });

  test.each([
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'application/json, text/plain',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; foo=bar',
    'application/json;',
    'application/merge-patch+json',
    'multipart/form-data; boundary=x',
    'application/vnd.kubernetes.protobuf',
  ])('%s is refused', (type) => {
    expect(codeOf(head({ ...good, 'content-type': type }))).toBe(415);
  });
});

test.each([
  ['identity', 200],
  ['Identity', 200],
  ['gzip', 415],
  ['deflate', 415],
  ['br', 415],
  ['zstd', 415],
  ['identity, gzip', 415],
  ['', 415],
])('Content-Encoding %j: %i', (coding, code) => {
  expect(codeOf(head({ ...good, 'content-encoding': coding }))).toBe(code);
});

test.each([
  [{ 'content-length': '0' }, 400],
  [{ 'content-length': undefined }, 400],
  [{ 'content-length': '1000' }, 200],
  [{ 'content-length': '1001' }, 413],
  [{ 'content-length': '999999999999999999999' }, 413],
  [{ 'content-length': undefined, 'transfer-encoding': 'chunked' }, 200],
  [{ 'content-length': undefined, 'transfer-encoding': 'Chunked' }, 200],
  [{ 'content-length': undefined, 'transfer-encoding': 'gzip, chunked' }, 400],
])('%j: %i', (headers, code) => {
  expect(codeOf(head({ ...good, ...headers }))).toBe(code);
});

test.each([
  ['/validate', 30_000],
  ['/validate?', 30_000],
  ['/validate?other=1', 30_000],
  ['/validate?timeout=10s', 10_000],
  ['/validate?timeout=1h', 30_000],
  ['/validate?timeout=60s', 30_000],
  ['/validate?other=1&timeout=1m30s', 30_000],
  ['/validate?timeout=250ms', 250],
])('%s waits %i ms', (url, timeoutMs) => {
  expect(head(good, url)).toMatchObject({ ok: true, timeoutMs });
});

test.each(['', '10', '0', '0s', '-1s', 'soon', '1s&timeout=1s', '%31%30'])(
  'timeout=%s is refused',
  (timeout) => {
    expect(codeOf(head(good, `/validate?timeout=${timeout}`))).toBe(400);
  },
);
