// Posts a review to a webhook, as the API server does.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { errorCode } from '../../base/kube-error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ClientConfig } from './configurations.ts';

/** The webhook gave no verdict. Its failurePolicy decides what follows. */
export class WebhookCallError extends Error {}

/** Returns the answer as parsed JSON. Rejects with a WebhookCallError. */
export type CallWebhook = (
  clientConfig: ClientConfig,
  review: JsonObject,
  limits: { readonly seconds: number; readonly signal: AbortSignal },
) => Promise<unknown>;

export const callWebhook: CallWebhook = async (clientConfig, review, { seconds, signal }) => {
  const url = urlOf(clientConfig, seconds);
  const timeout = AbortSignal.timeout(seconds * 1000);
  const options = { ...optionsFor(url, clientConfig), signal: AbortSignal.any([signal, timeout]) };
  try {
    return await answerTo(JSON.stringify(review), options);
  } catch (error) {
    const why = timeout.aborted ? 'context deadline exceeded' : transportErrorText(error);
    const problem = error instanceof WebhookCallError ? error.message : `Post "${url.href}": ${why}`;
    throw new WebhookCallError(`failed to call webhook: ${problem}`);
  }
};

/** A service is called by its name inside a cluster, because the certificate of the webhook has that name. */
function urlOf({ service, url: given = '' }: ClientConfig, seconds: number): URL {
  const { name, namespace, port = 443, path = '/' } = service ?? { name: '', namespace: '' };
  const url = URL.parse(service === undefined ? given : `https://${name}.${namespace}.svc:${port}${path}`);
  if (url === null) throw new WebhookCallError('could not get REST client: the URL is none');
  url.searchParams.set('timeout', `${seconds}s`);
  return url;
}

function optionsFor(url: URL, { service, caBundle = '' }: ClientConfig): RequestOptions {
  // The sandbox has no Services and Pods: a Service leads to its port on this machine.
  const place = service === undefined ? {} : { host: '127.0.0.1', servername: url.hostname };
  return {
    method: 'POST',
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    ...place,
    port: url.port === '' ? 443 : url.port,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, 'content-type': 'application/json', accept: 'application/json' },
    ...(caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }),
    // No connection is reused: the webhook might close a kept connection just when a request is sent.
    agent: false,
  };
}

const maxLength = 3 * 1024 * 1024;

async function answerTo(body: string, options: RequestOptions): Promise<unknown> {
  const outgoing = request(options).end(body);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- https://nodejs.org/api/http.html#event-response
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    if (text.length > maxLength) throw new WebhookCallError(`the response is longer than ${maxLength}`);
  }
  const { statusCode: code = 0 } = response;
  if (code < 200 || code > 206)
    throw new WebhookCallError(`the server responded with the status code ${code}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new WebhookCallError("couldn't get version/kind; json parse error");
  }
}

function transportErrorText(error: unknown): string {
  const code = errorCode(error) ?? 'the connection failed';
  if (/CERT|ISSUER|SIGNATURE/.test(code)) return `tls: failed to verify certificate: ${code}`;
  return code === 'ECONNREFUSED' ? 'connect: connection refused' : code;
}
