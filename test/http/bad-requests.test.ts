// What HTTP alone answers: requests that never become a review.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { snapshotOf } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { namespaceObject, requestFor, reviewJson, reviewOf } from '../support/reviews.ts';
import { issueTestPair, startTestWebhook, type TestWebhook } from '../support/test-webhook.ts';
import { exchange, parseAnswer } from '../support/tls-client.ts';

let target: TestWebhook;
const good = reviewJson(namespaceObject('team-a'));
const json = { 'Content-Type': 'application/json' };

beforeAll(async () => {
  target = await startTestWebhook(await issueTestPair(), snapshotOf({}));
});
afterAll(() => target.close());

/** The code of an answer of the one form that a refusal by HTTP has; 0 for any other answer. */
function refusalCode({ code, headers, body }: { code: number; headers: unknown; body: string }): number {
  const status = JSON.stringify({ headers, body: JSON.parse(body) as unknown });
  const isPlain = status.includes('"content-type":"application/json"') && status.includes(`"code":${code}}`);
  return isPlain && status.includes('"kind":"Status","apiVersion":"v1","metadata":{}') && body.length < 300
    ? code
    : 0;
}

describe.each(['/validate', '/mutate'])('POST %s', (path) => {
  // All other bodies are in test/unit/admission/decode/decode-review.test.ts.
  const bodies: readonly (readonly [string, string | Buffer])[] = [
    ['an empty body', ''],
    ['half of a review', good.slice(0, -5)],
    [
      'a uid of a megabyte',
      JSON.stringify(reviewOf(requestFor(namespaceObject('a'), { uid: 'x'.repeat(1e6) }))),
    ],
  ];
  test.each(bodies)('%s gets 400', async (_name, body) => {
    expect(refusalCode(await target.client.post(path, body, json))).toBe(400);
  });

  test('an empty body without any header gets 400', async () => {
    expect(refusalCode(await target.client.call({ method: 'POST', path }))).toBe(400);
  });

  const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', ''];
  test.each(types)('Content-Type %j gets 415', async (type) => {
    expect(refusalCode(await target.client.post(path, good, { 'Content-Type': type }))).toBe(415);
  });

  test('a request without Content-Type gets 415', async () => {
    expect(refusalCode(await target.client.post(path, good, {}))).toBe(415);
  });

  test('a compressed body gets 415 and is not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    expect(refusalCode(await target.client.post(path, bomb, { ...json, 'Content-Encoding': 'gzip' }))).toBe(
      415,
    );
  });

  test.each(['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'APPLICATION/JSON'])(
    'Content-Type %s is accepted',
    async (type) => {
      expect((await target.client.post(path, good, { 'Content-Type': type })).code).toBe(200);
    },
  );

  test.each(['', '10', 'soon', '0s', '-5s', '1s&timeout=2s'])('?timeout=%s gets 400', async (timeout) => {
    expect(refusalCode(await target.client.post(`${path}?timeout=${timeout}`, good))).toBe(400);
  });

  test.each(['?timeout=10s', '?timeout=1h', '?other=%zz', '?'])('the query %s is accepted', async (query) => {
    expect((await target.client.post(`${path}${query}`, good)).code).toBe(200);
  });

  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])(
    'the method %s gets 405',
    async (method) => {
      const answer = await target.client.call({ method, path });
      expect(refusalCode(answer)).toBe(405);
      expect(answer.headers.allow).toBe('POST');
    },
  );

  test('HEAD gets 405 without a body', async () => {
    const answer = await target.client.call({ method: 'HEAD', path });
    expect(answer).toMatchObject({ code: 405, body: '', headers: { allow: 'POST' } });
  });

  const paths = [
    `${path}/`,
    `/${path}`,
    `${path}//`,
    `${path}/%2e%2e`,
    `/x/..${path}`,
    `/.${path}`,
    path.toUpperCase(),
  ];
  test.each([...paths, `${path}%20`, `${path}%00`, `${path}/x`, `${path};a`, path.replace('a', '%61')])(
    'the path %s gets 404, never a redirect',
    async (other) => {
      const answer = await target.client.post(other, good);
      expect(refusalCode(answer)).toBe(404);
      expect(answer.headers.location).toBeUndefined();
    },
  );
});

describe('requests that no HTTP library sends', () => {
  const head = 'POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const close = 'Connection: close\r\n';
  const rows: readonly (readonly [string, string, number])[] = [
    ['bytes that are no HTTP', '\x16\x03\x01\x02\x00garbage\r\n\r\n', 400],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a method that nobody knows', 'FOO /validate HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['two hosts', `POST /validate HTTP/1.1\r\nHost: x\r\nhost: y\r\n${close}\r\n`, 400],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['OPTIONS *', `OPTIONS * HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 404],
    [
      'no Host',
      `POST /validate HTTP/1.1\r\n${close}Content-Length: 2\r\nContent-Type: application/json\r\n\r\n{}`,
      400,
    ],
    ['a header without a colon', `${head}Nonsense\r\n\r\n`, 400],
    ['a header of 17 kB', `${head}X: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ['17 kB of headers', `${head}${'X: y\r\n'.repeat(2900)}\r\n`, 431],
    ['a target of 17 kB', `POST /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['a length that is no number', `${head}Content-Length: ten\r\n\r\n`, 400],
    ['a negative length', `${head}Content-Length: -1\r\n\r\n`, 400],
    ['two lengths', `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ['a length and chunks', `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['compressed chunks', `${head}${close}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 400],
    ['a chunk of no size', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`, 400],
    ['chunks of nothing', `${head}${close}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    [
      'an expectation that nobody knows',
      `${head}${close}Expect: miracles\r\nContent-Length: 2\r\n\r\n{}`,
      417,
    ],
    ['bare line feeds', 'POST /validate HTTP/1.1\nHost: x\n\n', 400],
    ['HTTP/3.0', 'POST /validate HTTP/3.0\r\nHost: x\r\n\r\n', 400],
  ];
  test.each(rows)('%s', async (_name, bytes, code) => {
    const { headers, ...answer } = parseAnswer(await exchange(target.port, Buffer.from(bytes, 'latin1')));
    expect(refusalCode({ ...answer, headers: Object.fromEntries(headers) })).toBe(code);
    expect(headers.get('connection')).toBe('close');
  });

  test('a request target with a host is served like a path', async () => {
    const body = `Content-Length: ${good.length}\r\n${close}\r\n${good}`;
    const answer = await exchange(target.port, head.replace('/validate', 'https://x/validate'), body);
    expect(parseAnswer(answer).code).toBe(200);
  });

  test('a header named __proto__ is treated like any other', async () => {
    const bytes = `${head}__proto__: x\r\nconstructor: y\r\nContent-Length: ${good.length}\r\n${close}\r\n${good}`;
    expect(parseAnswer(await exchange(target.port, bytes)).code).toBe(200);
  });

  test('two requests in one packet are answered in order', async () => {
    const first = `${head}Content-Length: ${good.length}\r\n\r\n${good}`;
    const second = `GET /none HTTP/1.1\r\nHost: x\r\n${close}\r\n`;
    const answer = await exchange(target.port, first + second);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404']);
  });

  test('meaningless bytes after a request do not prevent its answer, which is the last one', async () => {
    const first = `${head}Content-Length: ${good.length}\r\n\r\n${good}`;
    for (const garbage of ['GARBAGE\r\n\r\n', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', '\u0000\u0001']) {
      const answer = await exchange(target.port, first + garbage);
      expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    }
  });

  test('a body in many small pieces is read as one body', async () => {
    const parts = Array.from(good, (character) => `1\r\n${character}\r\n`);
    const answer = await exchange(
      target.port,
      `${head}${close}Transfer-Encoding: chunked\r\n\r\n`,
      ...parts,
      '0\r\n\r\n',
    );
    expect(parseAnswer(answer).code).toBe(200);
  });
});

test('the server has counted every refusal, has no internal error, and still answers', async () => {
  await eventually(() => target.observer.inFlight).toBe(0);
  // A client may or may not count as disconnected before its request is refused: that is a matter of timing.
  const codes = target.observer.refusals.map(({ code }) => code).filter((code) => code !== 499);
  expect(new Set(codes)).toEqual(new Set([400, 404, 405, 415, 417, 431]));
  expect(target.observer.errors).toEqual([]);
  expect((await target.client.post('/validate', good)).code).toBe(200);
});
