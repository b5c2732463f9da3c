// Sends requests to an API server, real or not, as one user, and returns the whole answer.
import { request, type Agent } from 'node:https';
import { text } from 'node:stream/consumers';
import { Watch } from './watch.ts';
import type { ApiObject, Opened } from './answers.ts';

/** The address of the server, and the credentials of its administrator. */
export interface Connection {
  readonly server: string;
  readonly agent: Agent;
  readonly token?: string;
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  /** The texts of the Warning headers. */
  readonly warnings: readonly string[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** Parsed; an empty object when the answer is not JSON. */
  readonly body: ApiObject;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Sending {
  readonly body?: unknown;
  /** Sent as it is, in place of a body. */
  readonly text?: string;
  readonly headers?: Headers;
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

export type PatchKind = keyof typeof patchTypes;

const patienceMs = 60_000;

export class Api {
  readonly #connection: Connection;
  readonly #headers: Headers;

  constructor(connection: Connection, headers: Headers = {}) {
    this.#connection = connection;
    this.#headers = headers;
  }

  /** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
  as(user: string, ...groups: readonly string[]): Api {
    return this.with({
      'impersonate-user': user,
      ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    });
  }

  with(headers: Headers): Api {
    return new Api(this.#connection, { ...this.#headers, ...headers });
  }

  async get(path: string, headers: Headers = {}): Promise<Reply> {
    return await this.send('GET', path, { headers });
  }

  async create(path: string, body: unknown): Promise<Reply> {
    return await this.send('POST', path, { body });
  }

  async replace(path: string, body: unknown): Promise<Reply> {
    return await this.send('PUT', path, { body });
  }

  async patch(path: string, kind: PatchKind, body: unknown): Promise<Reply> {
    return await this.send('PATCH', path, { body, headers: { 'content-type': patchTypes[kind] } });
  }

  /** A server-side apply. `query` names the manager, and may force. */
  async apply(path: string, body: unknown, query = 'fieldManager=contract'): Promise<Reply> {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    return await this.send('PATCH', `${path}?${query}`, { body, headers });
  }

  async delete(path: string, options?: object): Promise<Reply> {
    return await this.send('DELETE', path, options === undefined ? {} : { body: options });
  }

  /** For steps that prepare a test. Returns the object, or throws an error with the answer. */
  async must(reply: Promise<Reply>): Promise<ApiObject> {
    const { status, text: said, body } = await reply;
    if (status < 300) return body;
    throw new Error(`${status} ${said}`);
  }

  async send(method: string, path: string, sending: Sending = {}): Promise<Reply> {
    const opened = await this.#open(method, path, sending);
    return await replyOf(opened);
  }

  /** Rejects when the watch is refused before its first event. */
  async watch(path: string, query = ''): Promise<Watch> {
    const opened = await this.#open('GET', `${path}?watch=true${query === '' ? '' : `&${query}`}`, {});
    if (opened.response.statusCode === 200) return new Watch(opened);
    const { status, text: said } = await replyOf(opened);
    throw new Error(`the watch was refused: ${status} ${said}`);
  }

  /** Returns the code with which a watch ends at once: of the answer, or of its first event. */
  async watchRefusal(path: string, query: string): Promise<number> {
    const opened = await this.#open('GET', `${path}?watch=true&${query}`, {});
    const { statusCode = 0 } = opened.response;
    if (statusCode !== 200) {
      opened.close();
      return statusCode;
    }
    await using watch = new Watch(opened);
    const { type, object } = await watch.next();
    return type === 'ERROR' ? object.code : 0;
  }

  #open(method: string, path: string, sending: Sending): Promise<Opened> {
    const { server, agent, token } = this.#connection;
    const content = sending.text ?? (sending.body === undefined ? undefined : JSON.stringify(sending.body));
    const headers = {
      ...(content === undefined ? {} : contentHeaders(content)),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...copied({ ...this.#headers, ...sending.headers }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<Opened>();
    const call = request(`${server}${path}`, { method, agent, headers }, (response) => {
      resolve({ response, close: () => call.destroy() });
    });
    call.setTimeout(patienceMs, () => call.destroy(new Error(`${method} ${path}: no answer`)));
    call.on('error', reject);
    call.end(content);
    return promise;
  }
}

async function replyOf({ response }: Opened): Promise<Reply> {
  const said = await text(response);
  const warnings = response.headersDistinct['warning'] ?? [];
  return {
    status: response.statusCode ?? 0,
    type: response.headers['content-type'] ?? '',
    warnings: warnings.map(warningText),
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    ),
    text: said,
    body: parsed(said) as ApiObject,
  };
}

/** For a DELETE, Node.js would send the content without its length. */
function contentHeaders(content: string): Headers {
  return { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) };
}

/**
 * Reads `299 - "text"`, in which the quotes of the text are escaped.
 * https://www.rfc-editor.org/rfc/rfc7234#section-5.5
 */
function warningText(header: string): string {
  const [, quoted = ''] = /^299 \S+ "(.*)"$/.exec(header) ?? [];
  return quoted.replaceAll(/\\(.)/g, '$1');
}

function parsed(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return {};
  }
}

function copied(headers: Headers): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}
