// Runs the HTTP server with parts that only record what they are asked.
import { makeKeys, userCertificate } from '../../../cluster/pki.ts';
import { HttpsClient, type HttpAnswer } from '../../../support/https-client.ts';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { PathAction, ResourceAction } from '../../../../src/sandbox/access/authorizer.ts';
import { startServer, type RequestRecord } from '../../../../src/sandbox/http/server.ts';
import {
  type ObjectRequest,
  apiVersionOf,
  type Kinds,
  type Resource,
} from '../../../../src/sandbox/resource.ts';
import { Tokens, type User } from '../../../../src/sandbox/access/users.ts';
import type { ObjectAnswer } from '../../../../src/sandbox/read/read.ts';

type ServerPorts = Parameters<typeof startServer>[0];

function kindOf(group: string, version: string, kind: string, rest: Partial<Resource> = {}): Resource {
  const singular = kind.toLowerCase();
  return {
    group,
    version,
    kind,
    singular,
    plural: `${singular}s`,
    shortNames: [],
    categories: [],
    isNamespaced: true,
    subresources: [],
    columns: [
      {
        name: 'Age',
        type: 'date',
        description: '',
        priority: 0,
        cell: ({ metadata }) => String(metadata['made']),
      },
    ],
    rules: { prepare: (object) => object, problems: () => [] },
    isCustom: false,
    listKeys: {},
    ...rest,
  };
}

export const resources: readonly Resource[] = [
  kindOf('', 'v1', 'Secret'),
  kindOf('', 'v1', 'ServiceAccount', { subresources: ['token'], shortNames: ['sa'] }),
  kindOf('', 'v1', 'Namespace', { isNamespaced: false, subresources: ['status', 'finalize'] }),
  kindOf('rbac.authorization.k8s.io', 'v1', 'Role'),
  kindOf('reeve.dev', 'v1alpha1', 'SecretShare', {
    isNamespaced: false,
    isCustom: true,
    subresources: ['status'],
    categories: ['reeve'],
  }),
];

const kinds: Kinds = {
  all: () => resources,
  find: (group, version, plural) =>
    resources.find((kind) => kind.group === group && kind.version === version && kind.plural === plural),
  ofKind: (apiVersion, kind) =>
    resources.find((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion),
};

const reviews: ServerPorts['reviews'] = [
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    singular: 'selfsubjectreview',
    isNamespaced: false,
    answer: (user, body) => ({ ...body, status: { userInfo: user } }),
  },
];

const keys = await makeKeys();

export type Action = ResourceAction | PathAction;

/** The user ann may do everything; `mayElse` decides for other users. */
export class RunningServer implements AsyncDisposable {
  readonly requests: ObjectRequest[] = [];
  readonly records: RequestRecord[] = [];
  readonly faults: unknown[] = [];
  readonly #tokens = new Tokens();
  readonly #annsToken = this.#tokens.issue({ username: 'ann', groups: ['admins'] });
  readonly #close: () => Promise<void>;
  readonly client: HttpsClient;

  private constructor(port: number, close: () => Promise<void>) {
    this.client = new HttpsClient(port, keys.authority.certPem);
    this.#close = close;
  }

  static async start(
    answer: (request: ObjectRequest) => ObjectAnswer | Promise<ObjectAnswer> = () => list([]),
    mayElse: (user: User, action: Action) => boolean = () => false,
    unstored: ServerPorts['unstored'] = [],
  ): Promise<RunningServer> {
    const ports: ServerPorts = {
      kinds,
      reviews,
      unstored,
      authorizer: { allows: (user, action) => user.username === 'ann' || mayElse(user, action) },
      tokens: { find: (token: string) => self.tokens.find(token) } as Tokens,
      serveObjects: async (request) => {
        self.requests.push(request);
        return await answer(request);
      },
      observer: { answered: (record) => void self.records.push(record) },
      onError: (error) => void self.faults.push(error),
    };
    const tls = { ...keys.server, caPem: keys.authority.certPem };
    const server = await startServer(ports, tls, 0);
    const self: RunningServer = new RunningServer(Number(new URL(server.url).port), () => server.close());
    return self;
  }

  get tokens(): Tokens {
    return this.#tokens;
  }

  get port(): number {
    return this.client.port;
  }

  /** Sends a request as ann, unless the headers name another user. */
  async ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string | readonly string[]>> = {},
    body?: string | Uint8Array,
  ): Promise<HttpAnswer & { readonly json: JsonObject }> {
    const authorization = `Bearer ${this.#annsToken}`;
    const call = {
      method,
      path,
      headers: { authorization, ...headers },
      ...(body === undefined ? {} : { body }),
    };
    const answer = await this.client.call(call);
    const isJson = answer.headers['content-type']?.startsWith('application/json') === true;
    const isWatch = answer.body.trimEnd().includes('\n');
    return {
      ...answer,
      json: isJson && !isWatch && answer.body !== '' ? (JSON.parse(answer.body) as JsonObject) : {},
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.#close();
  }
}

export function list(items: (ObjectAnswer & { readonly kind: 'list' })['items']): ObjectAnswer {
  return { kind: 'list', items, resourceVersion: '7' };
}

/** Returns the key and the certificate of a client in PEM. */
export function clientPair(
  user: string,
  groups: readonly string[],
): { readonly key: string; readonly cert: string } {
  return { key: keys.userKeyPem, cert: userCertificate(keys.authority, keys.userKeyPem, user, groups) };
}

/** A certificate for servers only. */
export const serverPair = { key: keys.server.keyPem, cert: keys.server.certPem };

export const authorityPem = keys.authority.certPem;
