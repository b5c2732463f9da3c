// Sends requests to the API server as any user over kept connections, and returns the warnings.
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { layoutOf } from '../../cluster/layout.ts';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly warnings: readonly string[];
}

export class ApiClient {
  readonly #server: string;
  readonly #agent: Agent;

  private constructor(server: string, agent: Agent) {
    this.#server = server;
    this.#agent = agent;
  }

  /** Connects as an administrator, who may impersonate any user. */
  static async open(cluster: ClusterAccess): Promise<ApiClient> {
    const layout = layoutOf(cluster.folder);
    const [ca, cert, key] = await Promise.all(
      [layout.caFile, layout.adminCertificate, layout.userKey].map((path) => readFile(path)),
    );
    const agent = new Agent({ keepAlive: true, maxSockets: 8, ca, cert, key });
    return new ApiClient(cluster.server, agent);
  }

  async send({ method, path, body, headers = {} }: ApiRequest): Promise<ApiAnswer> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const all = Object.entries({ 'content-type': 'application/json', ...headers });
      const sent = request(`${this.#server}${path}`, {
        method,
        agent: this.#agent,
        headers: Object.fromEntries(all.map(([name, value]) => [name, copied(value)])),
      });
      sent.on('response', resolve).on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
    const content = await text(response);
    return { status: response.statusCode ?? 0, body: JSON.parse(content), warnings: warningsOf(response) };
  }

  /** Rejects with the reason unless the request succeeded. */
  async mustSend(sent: ApiRequest): Promise<ApiAnswer> {
    const answer = await this.send(sent);
    if (answer.status < 300) return answer;
    throw new Error(`${sent.method} ${sent.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}

function copied(value: string | readonly string[]): string | string[] {
  return typeof value === 'string' ? value : [...value];
}

/** Reads `299 - "text"`, one for each warning: https://www.rfc-editor.org/rfc/rfc7234#section-5.5 */
function warningsOf({ rawHeaders }: IncomingMessage): readonly string[] {
  return rawHeaders.flatMap((value, index) => {
    if (index % 2 === 0 || rawHeaders[index - 1]?.toLowerCase() !== 'warning') return [];
    const quoted = Buffer.from(value, 'latin1').toString('utf8').slice('299 - "'.length, -1);
    return [quoted.replaceAll(/\\(.)/g, '$1')];
  });
}
