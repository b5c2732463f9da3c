// A webhook that allows everything, and records its reviews.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { issueCertificates } from '../../src/certs/issue/issue.ts';

interface Review {
  readonly request: {
    readonly uid: string;
    readonly operation: string;
    readonly resource: { readonly resource: string };
    readonly subResource?: string;
  };
}

export interface RecordingWebhook {
  readonly port: number;
  readonly caPem: string;
  /** Returns the reviews since the last call: `validate UPDATE namespaces/status`. */
  take(): readonly string[];
  /** From now on the webhook does not answer. */
  stop(): Promise<void>;
}

export async function startRecordingWebhook(namespace: string): Promise<RecordingWebhook> {
  const { ca, serving } = await issueCertificates({
    namespace,
    now: new Date(),
    caLifetimeDays: 1,
    leafLifetimeDays: 1,
  });
  const asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const review = JSON.parse(await text(request)) as Review;
    asked.push(described(request.url ?? '', review));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...review, response: { uid: review.request.uid, allowed: true } }));
  };
  const server = createServer({ cert: serving.certPem, key: serving.keyPem }, (request, response) => {
    void answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    caPem: ca.certPem,
    take: () => asked.splice(0),
    stop: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function described(url: string, { request }: Review): string {
  const { operation, resource, subResource = '' } = request;
  const path = /^\/(\w+)/.exec(url)?.[1];
  return `${path} ${operation} ${resource.resource}${subResource === '' ? '' : `/${subResource}`}`;
}
