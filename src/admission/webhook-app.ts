// The routes of the webhook; the only file that knows express.
import express from 'express';
import type { Application, NextFunction, Request, Response } from 'express';
import { internalError, methodNotAllowed, notFound } from './http-refusal.ts';
import type { HttpRefusal } from './http-refusal.ts';
import type { AdmissionObserver, Endpoint } from './ports.ts';
import { sendRefusal } from './send.ts';
import type { HttpHandler } from './webhook-handler.ts';

/** Paths match exactly, nothing is parsed that is not asked for, and nothing is ever redirected. */
export function webhookApp(handlers: Readonly<Record<Endpoint, HttpHandler>>, observer: AdmissionObserver): Application {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.enable('strict routing');
  app.enable('case sensitive routing');
  for (const endpoint of ['validate', 'mutate'] as const) {
    app.route(`/${endpoint}`).post(handlers[endpoint]).all(refusing(methodNotAllowed('POST'), observer));
  }
  app.use(refusing(notFound, observer));
  // Express knows an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    observer.failed(error);
    sendRefusal(request, response, internalError);
  });
  return app;
}

function refusing(refusal: HttpRefusal, observer: AdmissionObserver) {
  return (request: Request, response: Response): void => {
    observer.refusedTransport(refusal.code, refusal.reason);
    sendRefusal(request, response, refusal);
  };
}
