// Reads error answers of the API server. None of the text of an answer about a Secret may go further.
import { expect, test } from 'vitest';
import { KubeError } from '../../../../src/base/kube-error.ts';
import { clientOf, rejectionOf, sendJson, startStub, statusOf } from '../stub-api-server.ts';

test.each([
  [400, 'BadRequest', false],
  [401, 'Unauthorized', true],
  [403, 'Forbidden', false],
  [404, 'NotFound', false],
  [409, 'Conflict', true],
  [410, 'Expired', false],
  [422, 'Invalid', false],
  [429, 'TooManyRequests', true],
  [500, 'InternalError', true],
  [503, 'ServiceUnavailable', true],
  [504, 'Timeout', true],
])('the answer %i %s is retryable: %s', async (code, reason, retryable) => {
  const stub = await startStub((response) => sendJson(response, statusOf(code, reason), code));
  const error = await rejectionOf(clientOf(stub).request({ method: 'GET', path: '/api/v1' }));
  expect(error).toBeInstanceOf(KubeError);
  expect(error).toMatchObject({ code, reason, causes: [], retryable, retryAfterMs: undefined });
});

test.each<[string, number, object | string, Record<string, string>, object]>([
  ['an HTML page', 502, '<html>secret</html>', {}, { reason: 'BadGateway', retryable: true }],
  ['JSON that is not a Status', 404, '[1]', {}, { reason: 'NotFound' }],
  ['an unknown code', 499, '{}', {}, { reason: 'Unknown', retryable: false }],
  ['a redirect, which is not followed,', 302, '', { Location: '/x' }, { code: 302, reason: 'Found' }],
  ['a reason that is a sentence', 403, statusOf(403, 'the password is x'), {}, { reason: 'Forbidden' }],
  ['a reason that is an object', 403, { ...statusOf(403, ''), reason: {} }, {}, { reason: 'Forbidden' }],
  [
    'a Status with causes',
    403,
    statusOf(403, 'Forbidden', {
      details: {
        causes: [
          { reason: 'NamespaceTerminating' },
          { reason: 'NamespaceTerminating' },
          null,
          { reason: 'a b' },
        ],
      },
    }),
    {},
    { causes: ['NamespaceTerminating'] },
  ],
  [
    'causes that are not a list',
    403,
    statusOf(403, 'Forbidden', { details: { causes: 'x' } }),
    {},
    { causes: [] },
  ],
  [
    'the header Retry-After',
    429,
    statusOf(429, 'TooManyRequests'),
    { 'Retry-After': '3' },
    { retryAfterMs: 3000 },
  ],
  [
    'retryAfterSeconds in the body',
    429,
    statusOf(429, 'TooManyRequests', { details: { retryAfterSeconds: 2 } }),
    {},
    { retryAfterMs: 2000 },
  ],
  [
    'a header that differs from the body',
    503,
    statusOf(503, 'ServiceUnavailable', { details: { retryAfterSeconds: 2 } }),
    { 'Retry-After': '1' },
    { retryAfterMs: 1000 },
  ],
  [
    'a date in Retry-After',
    503,
    '',
    { 'Retry-After': 'Fri, 31 Dec 1999 23:59:59 GMT' },
    { retryAfterMs: undefined },
  ],
  [
    'no seconds',
    503,
    statusOf(503, 'ServiceUnavailable', { details: { retryAfterSeconds: 0 } }),
    {},
    { retryAfterMs: undefined },
  ],
  [
    'invalid seconds',
    429,
    statusOf(429, 'TooManyRequests', { details: { retryAfterSeconds: '9' } }),
    { 'Retry-After': '-1' },
    { retryAfterMs: undefined },
  ],
])('%s becomes the right error', async (_, code, body, headers, expected) => {
  const stub = await startStub((response) =>
    response.writeHead(code, headers).end(typeof body === 'string' ? body : JSON.stringify(body)),
  );
  // Shorter than the required waits, so that no request is repeated.
  const client = clientOf(stub, { timeoutMs: 5000 });
  expect(await rejectionOf(client.request({ method: 'GET', path: '/api/v1' }))).toMatchObject(expected);
});

const canary = 'c2VjcmV0LWNhbmFyeQ';

test.each<[string, number, string]>([
  ['in the message', 422, JSON.stringify(statusOf(422, 'Invalid', { message: `data: ${canary}` }))],
  ['as the reason', 403, JSON.stringify(statusOf(403, `${canary} is bad`))],
  [
    'in a cause',
    422,
    JSON.stringify(
      statusOf(422, 'Invalid', { details: { causes: [{ reason: `${canary}!`, message: canary }] } }),
    ),
  ],
  ['in a text that is not JSON', 500, `{"data":"${canary}`],
  ['in an answer that should be an object', 200, `["${canary}"]`],
  ['in an incomplete answer', 200, `{"data":"${canary}`],
])('an error does not contain the value of a Secret %s', async (_, code, body) => {
  const stub = await startStub((response) => response.writeHead(code).end(body));
  const labels = { 'reeve.dev/configmapshare': 'bundle' };
  for (const [plural, metadata] of [
    ['secrets', {}],
    ['configmaps', { labels }],
  ] as const) {
    const path = `/api/v1/namespaces/a/${plural}`;
    const request = { method: 'POST', path, body: { metadata, data: canary } } as const;
    const error = await rejectionOf(clientOf(stub).request(request));
    expect(error).toBeInstanceOf(KubeError);
    const { message, stack } = error as KubeError;
    expect([message, stack, JSON.stringify(error), String(error)].join()).not.toContain(canary);
  }
});

test('an error says why the API server refused a write of another kind', async () => {
  const message = 'admission webhook "w.example.com" denied the request: too small';
  const stub = await startStub((response) =>
    sendJson(response, statusOf(403, 'Forbidden', { message }), 403),
  );
  const path = '/api/v1/namespaces/a/configmaps';
  expect(await rejectionOf(clientOf(stub).request({ method: 'POST', path, body: {} }))).toMatchObject({
    refusal: { by: 'webhook', name: 'w.example.com', text: 'too small' },
  });
});
