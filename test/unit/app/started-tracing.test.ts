// Follows a reconcile and its requests to the API server into spans.
import { expect, test } from 'vitest';
import { tracedParts } from '../../../src/app/started-tracing.ts';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { KubeClient, KubeRequest } from '../../../src/kube/http/client.ts';
import { Tracer, type Span } from '../../../src/observe/tracer.ts';
import { done } from '../../../src/reconcile/queue/queue.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const path = '/api/v1/namespaces/a/secrets/regcred';
const attempt = { failures: 0, signal: new AbortController().signal };

function traced(answer: () => Promise<object> = () => Promise.resolve({})) {
  const spans: Span[] = [];
  const requests: KubeRequest[] = [];
  const plain: KubeClient = {
    request: async (request) => {
      requests.push(request);
      return { ...(await answer()) };
    },
    stream: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  };
  const { client, queue } = tracedParts(new Tracer(new VirtualClock(), (span) => spans.push(span)));
  return { spans, requests, client: client(plain), queue };
}

test('a reconcile is a trace of its own, and each of its requests is a child that names its span', async () => {
  const { spans, requests, client, queue } = traced();
  const handle = queue('namespace', async () => {
    await client.request({ method: 'PATCH', path, body: { data: { password: 'c4n4ry' } } });
    return done;
  });
  expect(await handle('a', attempt)).toBe(done);
  await handle('a', { ...attempt, failures: 2 });
  const [request, reconcile, , again] = spans;
  expect(reconcile).toMatchObject({
    start: { name: 'reconcile namespace', kind: 'internal', parent: undefined },
    attributes: { 'reeve.queue': 'namespace', 'reeve.key': 'a', 'reeve.attempt': 1, 'reeve.result': 'done' },
  });
  expect(again?.attributes).toMatchObject({ 'reeve.attempt': 3 });
  expect(again?.traceId).not.toBe(reconcile?.traceId);
  expect(request).toMatchObject({
    start: { name: 'PATCH', kind: 'client', parent: reconcile },
    traceId: reconcile?.traceId,
    attributes: { 'http.request.method': 'PATCH', 'url.path': path },
  });
  expect(requests[0]?.traceparent).toBe(`00-${request?.traceId}-${request?.spanId}-01`);
  expect(JSON.stringify(spans)).not.toContain('c4n4ry');
});

test('a reconcile that starts another one is not its parent', async () => {
  const { spans, queue } = traced();
  const inner = queue('provider', () => Promise.resolve({ kind: 'retry' }));
  await queue('namespace', async () => {
    await inner('b', attempt);
    return done;
  })('a', attempt);
  expect(spans.map(({ start }) => start.parent)).toEqual([undefined, undefined]);
  expect(spans[0]?.attributes['reeve.result']).toBe('retry');
});

test('a refused request is a failed span with its code, and the error reaches the caller', async () => {
  const error = new KubeError({ code: 403, reason: 'Forbidden', retryable: false });
  const { spans, client, queue } = traced(() => Promise.reject(error));
  const handled = queue('audit', async () => {
    await client.request({ method: 'GET', path });
    return done;
  })('a', attempt);
  await expect(handled).rejects.toBe(error);
  expect(spans).toMatchObject([
    { attributes: { 'error.type': 'Forbidden', 'http.response.status_code': 403 } },
    { attributes: { 'error.type': 'Forbidden' } },
  ]);
});

test('a request outside of a review and a reconcile is no span, and is sent unchanged', async () => {
  const { spans, requests, client } = traced();
  const request: KubeRequest = { method: 'PUT', path: '/apis/coordination.k8s.io/v1/leases/x' };
  await client.request(request);
  expect(requests).toEqual([request]);
  expect(spans).toEqual([]);
});
