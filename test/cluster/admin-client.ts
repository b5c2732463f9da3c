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
}

const timeoutMs = 10_000;

export class AdminClient {
  readonly #server: string;
  readonly #layout: Layout;
  /** Keeps connections for reads. Tests poll often, and a handshake is ten times the work of an answer. */
  readonly #kept = new Agent({ keepAlive: true });

  constructor(server: string, layout: Layout) {
    this.#server = server;
    this.#layout = layout;
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const [ca, cert, key] = await Promise.all([
      readFile(this.#layout.caFile),
      readFile(this.#layout.adminCertificate),
      readFile(this.#layout.userKey),
    ]);
    const agent = method === 'GET' ? this.#kept : false;
    return await send(`${this.#server}${path}`, { method, ca, cert, key, agent }, body);
  }

  /** Rejects with the reason unless the request succeeded. */
  async mustSend(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.send(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

/** Opens a new connection, or uses the agent and retries when a kept connection has been closed. */
export function send(url: string, options: RequestOptions, body?: unknown): Promise<Answer> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const headers = content === undefined ? {} : { 'content-type': 'application/json' };
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  const { agent = false } = options;
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, headers, agent, timeout: timeoutMs }, (response) => {
      text(response).then(
        (received) => resolve({ status: response.statusCode ?? 0, body: parsed(received) }),
        reject,
      );
    });
    let isLate = false;
    sent.on('timeout', () => {
      isLate = true;
      sent.destroy(new Error(`no answer within ${timeoutMs} ms`));
    });
    sent.on('error', (error) => {
      if (sent.reusedSocket && !isLate) resolve(send(url, { ...options, agent: false }, body));
      else reject(error);
    });
    sent.end(content);
  });
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
