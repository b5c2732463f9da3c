// Reads from method, path and query what a request asks for: objects of a kind, or a document.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
import type { IncomingMessage } from 'node:http';
import type { PathAction, ResourceAction } from '../access/authorizer.ts';
import { ApiError } from '../api-error.ts';

export interface ObjectPath extends Omit<ResourceAction, 'verb'> {
  readonly version: string;
}

export interface RequestTarget extends PathAction {
  readonly query: URLSearchParams;
  /** Undefined for a document. */
  readonly place: ObjectPath | undefined;
}

export function targetOf({ method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>): RequestTarget {
  const [rawPath = '', ...rest] = url.split('?');
  const parts = rawPath.split('/').filter(Boolean).map(decoded);
  const query = new URLSearchParams(rest.join('?'));
  const place = placeOf(parts);
  const verb = place === undefined ? method.toLowerCase() : verbOf(method, place, query);
  return { verb, path: `/${parts.join('/')}`, query, place };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function placeOf([root = '', ...below]: readonly string[]): ObjectPath | undefined {
  const [group = '', version = '', ...parts] = root === 'api' ? ['', ...below] : below;
  if (!/^apis?$/.test(root) || parts.length === 0) return undefined;
  const [namespace, inside] = namespaceIn(parts);
  const [resource = '', name, ...rest] = inside;
  return { group, version, resource, name, subresource: rest.join('/') || undefined, namespace };
}

/** `namespaces/x/secrets/y/status` is in a namespace; `namespaces/x/status` is the Namespace itself. */
function namespaceIn(parts: readonly string[]): readonly [string | undefined, readonly string[]] {
  const [first, namespace, third = 'status'] = parts;
  const isInside = first === 'namespaces' && third !== 'status' && third !== 'finalize';
  return isInside ? [namespace, parts.slice(2)] : [undefined, parts];
}

const verbs = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
]);

function verbOf(method: string, { name }: ObjectPath, query: URLSearchParams): string {
  const verb = verbs.get(method) ?? method.toLowerCase();
  if (name !== undefined) return verb;
  if (verb === 'delete') return 'deletecollection';
  if (verb !== 'get') return verb;
  return /^(false|0)$/.test(query.get('watch') ?? 'false') ? 'list' : 'watch';
}

export function noSuchPathError(): ApiError {
  const message = 'the server could not find the requested resource';
  return new ApiError({ code: 404, reason: 'NotFound', message, details: {} });
}

export function methodNotAllowedError(): ApiError {
  const message = 'the server does not allow this method on the requested resource';
  return new ApiError({ code: 405, reason: 'MethodNotAllowed', message, details: {} });
}
