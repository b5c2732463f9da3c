// Posts to a webhook under test over a real TLS connection and reads the answer.
import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';

export interface HttpAnswer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Body = string | Uint8Array;

export interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Body;
  readonly agent?: Agent;
}

export class HttpsClient {
  readonly port: number;
  readonly agent: Agent;

  /** Trusts this authority, or any server when `ca` is undefined. */
  constructor(port: number, ca?: string) {
    this.port = port;
    this.agent = new Agent({
      keepAlive: true,
      ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    });
  }

  /** Posts JSON with its headers, unless the call sets others. */
  post(
    path: string,
    body: Body,
    headers: Call['headers'] = { 'Content-Type': 'application/json' },
  ): Promise<HttpAnswer> {
    return this.call({ method: 'POST', path, body, headers });
  }

  async call({
    method = 'GET',
    path = '/',
    headers = {},
    body,
    agent = this.agent,
  }: Call): Promise<HttpAnswer> {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const options: RequestOptions = {
      host: '127.0.0.1',
      port: this.port,
      servername: 'localhost',
      method,
      path,
      agent,
      headers: Object.fromEntries(
        Object.entries({ ...length, ...headers }).map(([name, value]) => [name, copy(value)]),
      ),
    };
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const call = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          code: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    call.on('error', reject);
    call.end(body);
    return await promise;
  }

  close(): void {
    this.agent.destroy();
  }
}

function copy(value: string | readonly string[]): string | string[] {
  return typeof value === 'string' ? value : [...value];
}
