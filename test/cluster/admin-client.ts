// Sends single requests to a control plane as its administrator, to start it and to create what its users need.
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Layout } from './layout.ts';

export interface Answer {
  readonly status: number;
  /** The parsed body if it is JSON, otherwise its text. */
  readonly body: unknown;
  readonly warnings: readonly string[];
}

type Headers = Readonly<Record<string, string | string[]>>;

/** A write may wait for several webhooks of the API server, which has 60 s for the whole request. */
const timeoutMs = { read: 10_000, write: 60_000 };

export class AdminClient {
  readonly #server: string;
  readonly #layout: Layout;
  /** Keeps connections for reads. Tests poll often, and a handshake is ten times the work of an answer. */
  readonly #kept = new Agent({ keepAlive: true });

  constructor(server: string, layout: Layout) {
    this.#server = server;
    this.#layout = layout;
  }

  /** `headers`: replace the content type, or act as another user. */
  async send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
    const [ca, cert, key] = await Promise.all([
      readFile(this.#layout.caFile),
      readFile(this.#layout.adminCertificate),
      readFile(this.#layout.userKey),
    ]);
    const agent = method === 'GET' ? this.#kept : false;
    return await send(`${this.#server}${path}`, { method, ca, cert, key, agent, headers }, body);
  }

  /** Rejects with the reason unless the request succeeded. */
  async mustSend(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.send(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

/** Opens a new connection, or uses the agent and retries when a kept connection has been closed. */
export function send(
  url: string,
  options: Omit<RequestOptions, 'headers'> & { readonly headers?: Headers },
  body?: unknown,
): Promise<Answer> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const type = content === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { ...type, ...options.headers };
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  const { agent = false, method } = options;
  const timeout = method === 'GET' ? timeoutMs.read : timeoutMs.write;
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, headers, agent, timeout }, (response) => {
      text(response).then(
        (received) =>
          resolve({
            status: response.statusCode ?? 0,
            body: parsed(received),
            warnings: warningsIn(response.headersDistinct['warning'] ?? []),
          }),
        reject,
      );
    });
    let isLate = false;
    sent.on('timeout', () => {
      isLate = true;
      sent.destroy(new Error(`no answer within ${timeout} ms`));
    });
    sent.on('error', (error) => {
      if (sent.reusedSocket && !isLate) resolve(send(url, { ...options, agent: false }, body));
      else reject(error);
    });
    sent.end(content);
  });
}

/** A header has the form `299 - "text"`: https://www.rfc-editor.org/rfc/rfc7234#section-5.5 */
function warningsIn(headers: readonly string[]): readonly string[] {
  return headers.flatMap((header) => /^299 - (".*")$/.exec(header)?.[1] ?? []).map(unquoted);
}

function unquoted(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1');
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
