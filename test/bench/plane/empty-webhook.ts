// A baseline of the bench: a webhook that allows everything. Prints its port; its arguments are the files of its key pair.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';

const [certFile = '', keyFile = ''] = process.argv.slice(2);
const server = createServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile), keepAliveTimeout: 120_000 },
  (request, response) => void allow(request, response),
);

async function allow(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { uid } = (JSON.parse(await text(request)) as { readonly request: { readonly uid: string } }).request;
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, allowed: true },
  };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(review));
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.stdout.write(`${address.port}\n`);
});
