// JSON patch. https://www.rfc-editor.org/rfc/rfc6902
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/kube-object.ts';
import { ApiError, badRequest } from '../api-error.ts';
import { patchedObject } from './merge-patch.ts';

const maxLength = 3 * 2 ** 20;
/** The API server's own limit. */
const mostOperations = 10_000;
/** Each takes as long as the whole document does. */
const mostCopies = 100;

/** Throws an ApiError: 422 where an operation does not apply or a test fails, 400 for what is no JSON patch. */
export function jsonPatched(object: KubeObject, patch: unknown): KubeObject {
  if (!Array.isArray(patch) || !patch.every((operation) => isJsonObject(operation))) {
    throw badRequest('error decoding patch: a JSON patch is a list of operations');
  }
  const copies = patch.filter(({ op }) => op === 'copy').length;
  if (patch.length > mostOperations || copies > mostCopies) throw tooMany(patch.length);
  return patchedObject(patch.reduce(patchedBy, object));
}

function patchedBy(document: unknown, { op, path, from, value = null }: JsonObject): unknown {
  const keys = keysOf(path);
  switch (op) {
    case 'add':
      return withValue(document, keys, value);
    case 'replace':
      return withValue(without(document, keys), keys, value);
    case 'remove':
      return without(document, keys);
    case 'move':
      return withValue(without(document, keysOf(from)), keys, existing(document, keysOf(from)));
    case 'copy':
      // Copies of copies would grow without end.
      if (JSON.stringify(document).length > maxLength) throw doesNotApply('the copies are too large');
      return withValue(document, keys, existing(document, keysOf(from)));
    case 'test':
      // What is not there passes for null: https://github.com/evanphx/json-patch (the API server's library)
      if (isDeepStrictEqual(keys.reduce(memberOf, document) ?? null, value)) return document;
      throw doesNotApply('a test failed');
    default:
      throw doesNotApply('there is no such operation');
  }
}

function keysOf(pointer: unknown): readonly string[] {
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) throw doesNotApply('a path is missing');
  const keys = pointer.slice(1).split('/');
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function memberOf(value: unknown, key: string): unknown {
  return Array.isArray(value) ? (value as readonly unknown[])[indexOf(key)] : ownMember(value, key);
}

/** NaN where it is none: https://www.rfc-editor.org/rfc/rfc6901#section-4 */
function indexOf(key: string): number {
  return /^(0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN;
}

function existing(document: unknown, keys: readonly string[]): unknown {
  const value = keys.reduce(memberOf, document);
  if (value === undefined) throw doesNotApply(`there is nothing at /${keys.join('/')}`);
  return value;
}

function without(document: unknown, keys: readonly string[]): unknown {
  existing(document, keys);
  return withValue(document, keys, undefined);
}

/** A copy with the value at the place that the keys lead to, or with nothing there. */
function withValue(parent: unknown, [key = '', ...rest]: readonly string[], value: unknown): unknown {
  const isLast = rest.length === 0;
  const member = isLast ? value : withValue(memberOf(parent, key), rest, value);
  if (isJsonObject(parent)) {
    const { [key]: _, ...others } = parent;
    return member === undefined ? others : { ...others, [key]: member };
  }
  const list: readonly unknown[] = Array.isArray(parent) ? parent : [];
  const index = key === '-' ? list.length : indexOf(key);
  if (!Array.isArray(parent) || !(index <= list.length)) throw doesNotApply(`there is nothing at ${key}`);
  if (member === undefined) return list.toSpliced(index, 1);
  return list.toSpliced(index, isLast ? 0 : 1, member);
}

function tooMany(count: number): ApiError {
  const message = `The allowed maximum operations in a JSON patch is ${mostOperations}, got ${count}`;
  return new ApiError({ code: 413, reason: 'RequestEntityTooLarge', message });
}

/** The API server says no more than the first half; why is worth a word. */
function doesNotApply(why: string): ApiError {
  const message = `the server rejected our request due to an error in our request: ${why}`;
  return new ApiError({ code: 422, reason: 'Invalid', message, details: {} });
}
