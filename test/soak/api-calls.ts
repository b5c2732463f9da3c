// The requests that people send while the soak runs. They keep their connections open, and count them.
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { layoutOf } from '../cluster/layout.ts';

const mostTries = 60;
const tryAgainMs = 1000;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Default for a PATCH: the content type of an apply. */
  readonly contentType?: string;
  readonly as?: Person;
  /** True: the answer has only the metadata of the object. */
  readonly metadataOnly?: boolean;
}

export interface CallAnswer {
  /** The status code, or 0 without an answer. */
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

/** Has every right in RBAC, but is not exempt from the webhooks. */
export const operator: Person = { user: 'soak-operator', groups: ['system:authenticated', 'soak-operators'] };
/** A user whom the webhooks and the guard exempt. */
export const rescuer: Person = { user: 'soak-rescuer', groups: ['system:masters', 'reeve:break-glass'] };

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources */
const onlyMetadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Much longer than the API server waits for its webhooks. */
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

  /** Never rejects: a missing answer also counts as an answer. */
  async send(call: Call): Promise<CallAnswer> {
    try {
      return await this.#send(call);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { status: 0, message, body: undefined };
    }
  }

  /** Sends a call that must succeed before the soak goes on. With a 429 an API server that has just started asks for another try. */
  async mustSend(call: Call): Promise<unknown> {
    let answer = await this.send(call);
    for (let tries = 1; answer.status === 429 && tries < mostTries; tries += 1) {
      await sleep(tryAgainMs);
      answer = await this.send(call);
    }
    const { status, message, body } = answer;
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

  #send({ method, path, body, as, contentType, metadataOnly = false }: Call): Promise<CallAnswer> {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const type = contentType ?? (method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json');
    const headers = {
      ...(content === undefined ? {} : { 'content-type': type }),
      ...(metadataOnly ? { accept: onlyMetadata } : {}),
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
