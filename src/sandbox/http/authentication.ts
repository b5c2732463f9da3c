// Finds the user of a request by client certificate, bearer token or impersonation headers.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { type Authorizer, assertAllowed } from '../access/authorizer.ts';
import { ApiError, badRequestError, notServedError } from '../api-error.ts';
import { serviceAccountIdentity, type Tokens, type User } from '../access/users.ts';

const anonymous: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] };
const authenticatedGroup = 'system:authenticated';

/** Throws 401 for invalid credentials, even on paths that need none. */
export function authenticate({ socket, headers }: IncomingMessage, tokens: Tokens): User {
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
export function impersonated(
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
