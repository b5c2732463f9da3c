// What people ask of the API server while the soak runs: over connections that are kept, and counted.
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { layoutOf } from '../cluster/layout.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Default: an apply, of a PATCH. */
  readonly contentType?: string;
  readonly as?: Person;
}

export interface CallAnswer {
  /** 0: there was none. */
  readonly status: number;
  readonly message: string;
  readonly body: unknown;
}

export interface Person {
  readonly user: string;
  readonly groups: readonly string[];
}

interface Tls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Has every right by RBAC, so that hooks have to ask for it. */
export const operator: Person = { user: 'soak-operator', groups: ['system:authenticated', 'soak-operators'] };
/** Whom hooks and guard let pass. */
export const rescuer: Person = { user: 'soak-rescuer', groups: ['system:masters', 'reeve:break-glass'] };

/** Far above what the API server allows its webhooks. */
const timeoutMs = 30_000;

export class ApiCalls {
  readonly #server: string;
  readonly #tls: Tls;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });

  private constructor(server: string, tls: Tls) {
    this.#server = server;
    this.#tls = tls;
  }

  static async of(cluster: ClusterAccess): Promise<ApiCalls> {
    const layout = layoutOf(cluster.folder);
    const [ca, cert, key] = await Promise.all(
      [layout.caFile, layout.adminCertificate, layout.userKey].map((file) => readFile(file, 'utf8')),
    );
    return new ApiCalls(cluster.server, { ca: ca ?? '', cert: cert ?? '', key: key ?? '' });
  }

  /** Never rejects: a missing answer is an answer too. */
  async send(call: Call): Promise<CallAnswer> {
    try {
      return await this.#send(call);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { status: 0, message, body: undefined };
    }
  }

  /** For what must be known before the soak goes on. */
  async mustSend(call: Call): Promise<unknown> {
    const { status, message, body } = await this.send(call);
    if (status >= 200 && status < 300) return body;
    throw new Error(`${call.method} ${call.path}: ${status} ${message}`);
  }

  async list<T>(path: string): Promise<readonly T[]> {
    const { items } = (await this.mustSend({ method: 'GET', path })) as { readonly items: readonly T[] };
    return items;
  }

  close(): void {
    this.#agent.destroy();
  }

  #send({ method, path, body, as, contentType }: Call): Promise<CallAnswer> {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const type = contentType ?? (method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json');
    const headers = {
      ...(content === undefined ? {} : { 'content-type': type }),
      ...(as === undefined ? {} : { 'impersonate-user': as.user, 'impersonate-group': [...as.groups] }),
    };
    const options = { ...this.#tls, method, headers, agent: this.#agent, timeout: timeoutMs };
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#server}${path}`, options, (response) => {
        text(response).then((received) => resolve(answerOf(response.statusCode ?? 0, received)), reject);
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      sent.on('error', reject);
      sent.end(content);
    });
  }
}

function answerOf(status: number, received: string): CallAnswer {
  const body = parsed(received);
  const { message = '' } = (body ?? {}) as { readonly message?: string };
  return { status, message: status < 300 ? '' : message, body };
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return { message: content.slice(0, 200) };
  }
}
