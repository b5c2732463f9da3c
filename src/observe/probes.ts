// Serves the second port over plain HTTP, read-only: liveness, readiness and metrics.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A healthy start may take some seconds, because an API server refuses lists of a new kind for a second. A first answer
 * of 503 would be a warning about the Pod. So it waits, for less than the 2 s of the probe in the chart.
 * https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/#ResilientWatchCacheInitialization
 */
const firstReadyWaitMs = 1500;
const checkEveryMs = 25;

interface ProbeSources {
  /** Returns false before the policies are loaded and after shutdown has begun. */
  readonly isReady: () => boolean;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
  /** How long an answer "not ready" waits, until the program was ready once. */
  readonly waitMs?: number;
}

type IsReadySoon = () => Promise<boolean>;

interface Page {
  readonly code: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function createProbes({ isReady, metrics, waitMs = firstReadyWaitMs }: ProbeSources): Server {
  const isReadySoon = patient(isReady, waitMs);
  return createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => void answer(request, response, isReadySoon, metrics),
  );
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  isReadySoon: IsReadySoon,
  metrics: ProbeSources['metrics'],
): Promise<void> {
  const page = await pageOf(request, isReadySoon, metrics).catch(() => text(500, 'failed'));
  response.writeHead(page.code, {
    'Content-Type': page.type,
    'Content-Length': Buffer.byteLength(page.body),
    'Cache-Control': 'no-store',
    ...page.headers,
  });
  response.end(page.body);
  // The body of the request is ignored.
  request.resume();
}

function patient(isReady: () => boolean, waitMs: number): IsReadySoon {
  let wasReady = false;
  return async () => {
    const until = wasReady ? 0 : performance.now() + waitMs;
    // A process that wants to end does not wait for this timer.
    while (!isReady() && performance.now() < until) await sleep(checkEveryMs, undefined, { ref: false });
    const isReadyNow = isReady();
    wasReady ||= isReadyNow;
    return isReadyNow;
  };
}

async function pageOf(
  { method, url }: IncomingMessage,
  isReadySoon: IsReadySoon,
  metrics: ProbeSources['metrics'],
): Promise<Page> {
  // Probes of Kubernetes may have a query.
  // https://kubernetes.io/docs/reference/using-api/health-checks/
  const [path] = (url ?? '').split('?', 1);
  if (path !== '/livez' && path !== '/readyz' && path !== '/metrics') return text(404, 'not found');
  if (method !== 'GET' && method !== 'HEAD')
    return { ...text(405, 'only GET and HEAD'), headers: { Allow: 'GET, HEAD' } };
  switch (path) {
    case '/livez':
      return text(200, 'ok');
    case '/readyz':
      return (await isReadySoon()) ? text(200, 'ok') : text(503, 'not ready');
    case '/metrics':
      return { code: 200, type: metrics.contentType, body: await metrics.render() };
    default:
      return path satisfies never;
  }
}

function text(code: number, body: string): Page {
  return { code, type: 'text/plain; charset=utf-8', body: `${body}\n` };
}
