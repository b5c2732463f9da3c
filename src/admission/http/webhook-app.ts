// Defines the routes of the webhook. This is the only file that imports express.
import type { RequestListener } from 'node:http';
import { Router } from 'express';
import type { NextFunction, Request, Response } from 'express';
import { serverError, wrongMethod, unknownPath } from './http-refusal.ts';
import type { HttpRefusal } from './http-refusal.ts';
import type { AdmissionObserver, Endpoint } from '../ports.ts';
import { sendRefusal } from './send.ts';
import type { HttpHandler } from '../handler.ts';

/**
 * Paths match exactly, without redirects. Only the router of express is used: its application adds headers, parsers and
 * a second prototype to each request, which costs more than the routing. Reviews do not pass the router at all: it took 5 %
 * of the time of an answer.
 */
export function webhookApp(
  handlers: Readonly<Record<Endpoint, HttpHandler>>,
  observer: AdmissionObserver,
): RequestListener {
  const router = Router({ strict: true, caseSensitive: true });
  for (const endpoint of ['validate', 'mutate'] as const) {
    router
      .route(`/${endpoint}`)
      .post(handlers[endpoint])
      .all(refusing(wrongMethod('POST'), observer));
  }
  router.use(refusing(unknownPath, observer));
  // Express recognizes an error handler by its four parameters.
  router.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    observer.failed(error);
    sendRefusal(request, response, serverError);
  });
  const direct = new Map(Object.entries(handlers).map(([endpoint, handler]) => [`/${endpoint}`, handler]));
  return (request, response) => {
    const handler = request.method === 'POST' ? direct.get(pathOf(request.url ?? '')) : undefined;
    if (handler !== undefined) {
      void handler(request, response);
      return;
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no handler here uses what express would add to them
    router(request as Request, response as Response, (error: unknown) => observer.failed(error));
  };
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function refusing(refusal: HttpRefusal, observer: AdmissionObserver) {
  return (request: Request, response: Response): void => {
    observer.refusedTransport(refusal.code, refusal.reason);
    sendRefusal(request, response, refusal);
  };
}
