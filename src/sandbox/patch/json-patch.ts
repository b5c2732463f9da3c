// Applies a JSON patch. https://www.rfc-editor.org/rfc/rfc6902
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import { ApiError, badRequestError } from '../api-error.ts';
import { patchedObject } from './merge-patch.ts';

const maxLength = 3 * 2 ** 20;
/** The limit of the API server. */
const maxOperations = 10_000;
/** A copy takes as long as the whole document is large. */
const maxCopies = 100;
const maxShownLength = 100;

/**
 * Throws an ApiError: 422 when an operation does not apply or a test fails, 400 for a value that is not a JSON patch.
 */
export function jsonPatched(object: KubeObject, patch: unknown): KubeObject {
  if (!Array.isArray(patch) || !patch.every((operation) => isJsonObject(operation))) {
    throw badRequestError('error decoding patch: a JSON patch is a list of operations');
  }
  const copies = patch.filter(({ op }) => op === 'copy').length;
  if (patch.length > maxOperations || copies > maxCopies) throw tooMany(patch.length);
  // Changes one clone in place: a clone for each operation would take quadratic time.
  const document = structuredClone(object);
  for (const operation of patch) perform(document, operation);
  return patchedObject(document);
}

function perform(document: KubeObject, { op, path, from, value = null }: JsonObject): void {
  const keys = keysOf(path);
  switch (op) {
    case 'add':
      return insert(document, keys, structuredClone(value));
    case 'replace':
      remove(document, keys);
      return insert(document, keys, structuredClone(value));
    case 'remove':
      remove(document, keys);
      return;
    case 'move':
      return insert(document, keys, remove(document, keysOf(from)));
    case 'copy':
      // Without a limit, copies of copies would grow exponentially.
      if (JSON.stringify(document).length > maxLength) throw doesNotApply('the copies are too large');
      return insert(document, keys, structuredClone(existing(document, keysOf(from))));
    case 'test':
      // A missing value equals null: https://github.com/evanphx/json-patch (the API server's library)
      if (isDeepStrictEqual(keys.reduce(memberOf, document) ?? null, value)) return;
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

/** Returns NaN for a text that is not an index: https://www.rfc-editor.org/rfc/rfc6901#section-4 */
function indexOf(key: string): number {
  return /^(0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN;
}

function existing(document: unknown, keys: readonly string[]): unknown {
  let value = document;
  for (const key of keys) {
    value = memberOf(value, key);
    if (value === undefined) throw doesNotApply(`there is nothing at ${key.slice(0, maxShownLength)}`);
  }
  return value;
}

interface Place {
  readonly holder: unknown;
  readonly key: string;
}

/** Walks from the top, so that a long path that leads nowhere ends at its first step. */
function placeOf(document: unknown, keys: readonly string[]): Place {
  const holder = existing(document, keys.slice(0, -1));
  return { holder, key: keys.at(-1) ?? '' };
}

function remove(document: unknown, keys: readonly string[]): unknown {
  const value = existing(document, keys);
  const { holder, key } = placeOf(document, keys);
  if (Array.isArray(holder)) holder.splice(indexOf(key), 1);
  else if (isJsonObject(holder)) Reflect.deleteProperty(holder, key);
  return value;
}

function insert(document: unknown, keys: readonly string[], value: unknown): void {
  const { holder, key } = placeOf(document, keys);
  if (isJsonObject(holder)) {
    // Unlike an assignment, this creates a member for every key, `__proto__` too.
    Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
    return;
  }
  const list: unknown[] | undefined = Array.isArray(holder) ? holder : undefined;
  const index = key === '-' ? (list?.length ?? 0) : indexOf(key);
  if (list === undefined || !(index <= list.length)) {
    throw doesNotApply(`there is nothing at ${key.slice(0, maxShownLength)}`);
  }
  list.splice(index, 0, value);
}

function tooMany(count: number): ApiError {
  const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${count}`;
  return new ApiError({ code: 413, reason: 'RequestEntityTooLarge', message });
}

/** The API server sends only the first half of the message; the reason helps the user. */
function doesNotApply(why: string): ApiError {
  const message = `the server rejected our request due to an error in our request: ${why}`;
  return new ApiError({ code: 422, reason: 'Invalid', message, details: {} });
}
