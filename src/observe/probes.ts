// Serves the second port over plain HTTP, read-only: liveness, readiness and metrics.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

interface ProbeSources {
  /** Returns false before the policies are loaded and after shutdown has begun. */
  readonly isReady: () => boolean;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
}

interface Page {
  readonly code: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function createProbes(sources: ProbeSources): Server {
  return createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => void answer(request, response, sources),
  );
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  sources: ProbeSources,
): Promise<void> {
  const page = await pageOf(request, sources).catch(() => text(500, 'failed'));
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

async function pageOf({ method, url }: IncomingMessage, { isReady, metrics }: ProbeSources): Promise<Page> {
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
      return isReady() ? text(200, 'ok') : text(503, 'not ready');
    case '/metrics':
      return { code: 200, type: metrics.contentType, body: await metrics.render() };
    default:
      return path satisfies never;
  }
}

function text(code: number, body: string): Page {
  return { code, type: 'text/plain; charset=utf-8', body: `${body}\n` };
}
