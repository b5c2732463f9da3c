// Calls the server of probes and metrics over HTTP.
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProbes } from '../../../src/observe/probes.ts';

const state = { ready: false, breaks: false, onQuestion: () => undefined as void };
let server: Server;

async function start(waitMs: number): Promise<void> {
  server = createProbes({
    waitMs,
    isReady: () => {
      state.onQuestion();
      return state.ready;
    },
    metrics: {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      render: () => (state.breaks ? Promise.reject(new Error('c4n4ry')) : Promise.resolve('metric 1\n')),
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

function stop(): void {
  server.close();
  server.closeAllConnections();
}

async function call(path: string, method = 'GET'): Promise<{ response: IncomingMessage; body: string }> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, path, method, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { response, body };
}

describe('the probes', () => {
  beforeAll(async () => await start(0));
  afterAll(stop);

  test.each([
    ['/livez', false, 200, 'ok\n'],
    ['/readyz', false, 503, 'not ready\n'],
    ['/readyz', true, 200, 'ok\n'],
    ['/readyz?verbose', true, 200, 'ok\n'],
    ['/metrics', true, 200, 'metric 1\n'],
    ['/', true, 404, 'not found\n'],
    ['/readyz/', true, 404, 'not found\n'],
    ['//readyz', true, 404, 'not found\n'],
    ['/validate', true, 404, 'not found\n'],
  ])('GET %s has its answer when readiness is %s', async (path, ready, code, body) => {
    state.ready = ready;
    const answer = await call(path);
    expect({ code: answer.response.statusCode, body: answer.body }).toEqual({ code, body });
  });

  test.each(['/livez', '/readyz', '/metrics'])('HEAD %s is answered without a body', async (path) => {
    state.ready = true;
    const { response, body } = await call(path, 'HEAD');
    expect({ code: response.statusCode, body }).toEqual({ code: 200, body: '' });
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
    const { response } = await call('/metrics', method);
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe('GET, HEAD');
  });

  test('an error of the metrics is answered without its text', async () => {
    state.breaks = true;
    const { response, body } = await call('/metrics');
    state.breaks = false;
    expect({ code: response.statusCode, body }).toEqual({ code: 500, body: 'failed\n' });
  });
});

describe('the readiness of a start', () => {
  beforeAll(async () => await start(600_000));
  afterAll(stop);

  test('a start that becomes ready soon is never called not ready, so its Pod has no warning', async () => {
    state.ready = false;
    let questions = 0;
    state.onQuestion = () => {
      questions += 1;
      state.ready = questions > 2;
    };
    const { response } = await call('/readyz');
    expect(response.statusCode).toBe(200);
  });

  test('a program that was ready once is called not ready at once', async () => {
    state.onQuestion = () => undefined;
    state.ready = false;
    const { response } = await call('/readyz');
    expect(response.statusCode).toBe(503);
  });
});
