// Runs the HTTPS server of the sandbox, on loopback only, and takes each request to its answer.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../base/json.ts';
import {
  type Authorizer,
  type PathAction,
  type ResourceAction,
  assertAllowed,
  assertMayDo,
} from '../access/authorizer.ts';
import { ApiError, badRequestError, notServedError } from '../api-error.ts';
import { type Tokens, type User, serviceAccountIdentity } from '../access/users.ts';
import { errorReply, send, type Reply } from './reply.ts';
import { resourceReply, type ObjectPorts } from './resources.ts';
import { targetOf, type RequestTarget } from './target.ts';
import { documentReply } from './discovery.ts';
import { TLSSocket } from 'node:tls';

/** The rest of the sandbox, as far as the server needs it. */
interface ServerPorts extends ObjectPorts {
  readonly authorizer: Authorizer;
  readonly tokens: Tokens;
  readonly observer: RequestObserver;
  /** Receives errors that are not an ApiError. The client sees a 500 without the cause. */
  readonly onError: (error: unknown) => void;
}

export interface RequestObserver {
  answered(record: RequestRecord): void;
}

/** One answered request; a watch is recorded when it begins. */
export interface RequestRecord extends PathAction, Partial<ResourceAction> {
  readonly verb: string;
  /** Undefined for invalid credentials. */
  readonly user: string | undefined;
  readonly impersonatedUser: string | undefined;
  readonly code: number;
  readonly dryRun: boolean;
  /** The whole answer when it is one document. It may hold Secrets, so it must not be logged. */
  readonly answer: JsonObject | undefined;
}

export interface ServerTls {
  readonly certPem: string;
  readonly keyPem: string;
  /** The certificate of the authority that signs client certificates. */
  readonly caPem: string;
}

interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startServer(ports: ServerPorts, tls: ServerTls, port: number): Promise<RunningServer> {
  const options = {
    cert: tls.certPem,
    key: tls.keyPem,
    ca: tls.caPem,
    requestCert: true,
    // A client without a certificate may send a token.
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
    // Longer than Kubernetes clients keep an idle connection, so that no connection is closed under a request.
    keepAliveTimeout: 120_000,
  };
  const server = createServer(options, (request, response) => {
    serve(ports, request, response).catch((error: unknown) => {
      ports.onError(error);
      response.destroy();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on TCP has such an address
  const address = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `https://127.0.0.1:${address.port}`, close };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  readonly warnings: Set<string>;
  readonly signal: AbortSignal;
  /** The user and the impersonated user, set as soon as they are known. */
  user?: User;
  actsAs?: User | undefined;
}

async function serve(ports: ServerPorts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { onError: faulted } = ports;
  const gone = new AbortController();
  const { signal } = gone;
  response.once('close', () => gone.abort());
  const exchange: Exchange = { request, target: targetOf(request), warnings: new Set(), signal };
  const reply = await replyTo(exchange, ports).catch((error: unknown) => {
    // An error caused by a client that disconnects is not an error of the sandbox.
    if (!(error instanceof ApiError) && request.complete && !signal.aborted) faulted(error);
    return errorReply(error);
  });
  ports.observer.answered(recordOf(exchange, reply));
  const isYaml = request.headers.accept?.startsWith('application/yaml') === true;
  if (!response.destroyed)
    await send(reply, { response, isYaml, warnings: exchange.warnings, onError: faulted });
}

async function replyTo(exchange: Exchange, ports: ServerPorts): Promise<Reply> {
  const { request, target, warnings, signal } = exchange;
  const { verb, path, query, place } = target;
  exchange.user = authenticate(request, ports.tokens);
  exchange.actsAs = impersonated(request.headersDistinct, exchange.user, ports.authorizer);
  const user = exchange.actsAs ?? exchange.user;
  if (place === undefined) {
    assertAllowed(ports.authorizer, user, { verb, path });
    return documentReply(target, request.headers.accept, ports);
  }
  const { group, resource: plural } = place;
  assertMayDo(ports.authorizer, { ...place, resource: { group, plural }, user, query }, verb);
  const warn = (text: string): unknown => warnings.add(text);
  return await resourceReply({ request, verb, place, query, user, signal, warn }, ports);
}

function recordOf({ target, user, actsAs }: Exchange, reply: Reply): RequestRecord {
  const { verb, path, query, place } = target;
  const who = { user: user?.username, impersonatedUser: actsAs?.username };
  const answer = reply.kind === 'json' ? reply.body : undefined;
  return { ...place, ...who, verb, path, code: reply.code, dryRun: query.has('dryRun'), answer };
}

// Finds the user of a request by client certificate, bearer token or impersonation headers.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/

const anonymous: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] };
const authenticatedGroup = 'system:authenticated';

/** Throws 401 for invalid credentials, even on paths that need none. */
function authenticate({ socket, headers }: IncomingMessage, tokens: Tokens): User {
  const holder = socket instanceof TLSSocket ? certificateHolder(socket) : undefined;
  const [, token] = /^bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const user = holder ?? (token === undefined ? undefined : tokens.find(token));
  if (user !== undefined) return { ...user, groups: [...new Set([...user.groups, authenticatedGroup])] };
  if (token === undefined && holder !== null) return anonymous;
  throw new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

/** Returns null for a certificate that is not signed by our authority for a client. */
function certificateHolder(socket: TLSSocket): User | null | undefined {
  const { subject } = socket.getPeerCertificate() as Partial<ReturnType<TLSSocket['getPeerCertificate']>>;
  if (subject === undefined) return undefined;
  const [username = ''] = [subject.CN].flat();
  if (!socket.authorized || username === '') return null;
  return { username, groups: [subject.O].flat().filter((group) => group !== undefined) };
}

/**
 * Returns the impersonated user, or undefined when the request has no such header.
 * https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/
 */
function impersonated(
  headers: IncomingMessage['headersDistinct'],
  user: User,
  authorizer: Authorizer,
): User | undefined {
  const { 'impersonate-user': [name = ''] = [], 'impersonate-group': names = [], ...rest } = headers;
  const other = Object.keys(rest).find((header) => header.startsWith('impersonate-'));
  if (other !== undefined) throw notServedError(`the header ${other}`);
  const username = utf8(name);
  const groups = names.map(utf8);
  if (username === '' && groups.length === 0) return undefined;
  if (username === '') throw badRequestError('requested groups without impersonating a user name');
  const { who, ownGroups } = identityOf(username);
  const wanted = [who, ...groups.map((group) => ({ resource: 'groups', name: group }))];
  for (const action of wanted) assertAllowed(authorizer, user, { verb: 'impersonate', group: '', ...action });
  const standing = username === anonymous.username ? anonymous.groups : [authenticatedGroup];
  return { username, groups: [...new Set([...(groups.length > 0 ? groups : ownGroups), ...standing])] };
}

/** Node reads the bytes of a header as Latin 1. https://nodejs.org/api/http.html#messageheaders */
function utf8(header: string): string {
  return Buffer.from(header, 'latin1').toString();
}

function identityOf(username: string) {
  const [, namespace, name] = /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/.exec(username) ?? [];
  if (namespace === undefined || name === undefined) {
    return { who: { resource: 'users', name: username }, ownGroups: [] };
  }
  const ownGroups = serviceAccountIdentity(namespace, name, '').groups;
  return { who: { resource: 'serviceaccounts', namespace, name }, ownGroups };
}
