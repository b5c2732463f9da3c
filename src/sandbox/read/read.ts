// Reads one object or a list of objects, at the revision that the request asks for.
import { compileSelector, parseSelectorText } from '../../schema/selector.ts';
import {
  badRequestError,
  expiredError,
  notFoundError,
  ApiError,
  invalidError,
  groupResource,
} from '../api-error.ts';
import { type ObjectRequest, type Resource, withType } from '../resource.ts';
import { type SandboxStore, atRevision, type Change } from '../store.ts';
import { type JsonObject, ownMember } from '../../base/json.ts';
import { type KubeObject, type StringMap, labelsOf } from '../../base/metadata.ts';
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';

/** Throws an ApiError, as `readList` does. */
export function readObject(
  store: SandboxStore,
  { resource, namespace, name = '', query }: ObjectRequest,
): ObjectAnswer {
  revisionOf(query, store);
  const object = store.get(resource, namespace, name);
  if (object === undefined) throw notFoundError(resource, name);
  return { kind: 'object', code: 200, object };
}

/** Returns the whole list. A server may send more than `limit` items, so no client gets a token to continue. */
export function readList(store: SandboxStore, request: ObjectRequest): ObjectList {
  const { resource, namespace, query } = request;
  const isSelected = filterOf(request);
  const asked = revisionOf(query, store);
  const match = query.get('resourceVersionMatch') ?? '';
  if (match !== '' && (query.get('resourceVersion') ?? '') === '')
    throw forbiddenOption('resourceVersionMatch', 'is forbidden unless resourceVersion is provided');
  if (match === 'Exact' && asked !== store.revision) throw expiredError();
  if ((query.get('continue') ?? '') !== '')
    throw badRequestError('invalid continue token: the sandbox answers every list whole');
  const items = store.list(resource, namespace).filter(isSelected);
  return { kind: 'list', items, resourceVersion: String(store.revision) };
}

export interface SandboxWatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  /** For ERROR a Status; for BOOKMARK only metadata.resourceVersion and annotations count. */
  readonly object: KubeObject;
}

export interface ObjectList {
  readonly kind: 'list';
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

export type ObjectAnswer =
  | ObjectList
  | { readonly kind: 'object'; readonly code: number; readonly object: JsonObject }
  | { readonly kind: 'watch'; readonly events: AsyncIterable<SandboxWatchEvent> };

/** Returns undefined when any revision will do. Throws an ApiError, also for a revision in the future. */
function revisionOf(query: URLSearchParams, { revision }: { revision: number }): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (!/^\d{0,15}$/.test(text))
    throw badRequestError(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}`,
    );
  const asked = Number(text);
  if (asked > revision) throw tooLarge(asked, revision);
  return asked === 0 ? undefined : asked;
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#unavailable-resource-versions */
function tooLarge(asked: number, current: number): ApiError {
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' };
  return new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${cause.message}: ${asked}, current: ${current}`,
    details: { causes: [cause], retryAfterSeconds: 1 },
  });
}

function forbiddenOption(field: string, why: string): ApiError {
  const cause = { reason: 'FieldValueForbidden', message: `Forbidden: ${field} ${why}`, field };
  return invalidError({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [cause]);
}

// Compiles the labelSelector and the fieldSelector of a request to a filter.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#list-and-watch-filtering

type ObjectFilter = (object: KubeObject) => boolean;

/** For lists, watches and the deletion of collections. Throws an ApiError. */
export function filterOf({ resource, query }: Pick<ObjectRequest, 'resource' | 'query'>): ObjectFilter {
  const labels = parseSelectorText(query.get('labelSelector') ?? '');
  if (typeof labels === 'string')
    throw badRequestError(
      `unable to parse requirement: found '${labels}', expected: a label with in, notin, =, ==, !=`,
    );
  const selector = compileSelector({ matchExpressions: labels });
  const fieldTerms = (query.get('fieldSelector') ?? '').match(/[^,]+/g) ?? [];
  const tests = fieldTerms.map((term) => fieldTest(resource, term));
  return (object) => selector.matches(labelsOf(object)) && tests.every((holds) => holds(object));
}

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/#list-of-supported-fields */
const commonFields = /^metadata\.(name|namespace)$/;
const ownFields: ReadonlyMap<string, RegExp> = new Map([
  ['namespaces', /^status\.phase$/],
  ['secrets', /^type$/],
  ['events', /^(involvedObject\.\w+|reason|reportingComponent|type)$/],
  ['events.events.k8s.io', /^(regarding\.\w+|reason|reportingController|type)$/],
]);
const fieldTerm = /^(?<field>[^=!]*)(?<operator>!=|==?)(?<wanted>[^\\=]*)$/;

function fieldTest(resource: Resource, term: string): ObjectFilter {
  const { field, operator, wanted } = fieldTerm.exec(term)?.groups ?? {};
  if (field === undefined) throw badRequestError(`invalid selector: '${term}'; can't understand '${term}'`);
  if (!commonFields.test(field) && ownFields.get(groupResource(resource))?.test(field) !== true)
    throw badRequestError(`field label not supported: ${field}`);
  const path = field.split('.');
  // A missing value counts as empty.
  return (object) => ((path.reduce<unknown>(ownMember, object) ?? '') === wanted) === (operator !== '!=');
}

// Serves watches: the present objects when asked for, then every change until the watch ends.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes

/** The number of events that may wait for a slow client. One more ends the watch, and the client begins another. */
const highWaterMark = 10_000;
const bookmarkMilliseconds = 60_000;
/** The maximum delay of a timer. */
const maxTimeoutMs = 2 ** 31 - 1;

interface Watch {
  readonly store: SandboxStore;
  readonly request: ObjectRequest;
  readonly isSelected: ObjectFilter;
  readonly revision: number | undefined;
}

/** Holds no resources before the first event is read. Throws an ApiError. */
export function startWatch(store: SandboxStore, request: ObjectRequest): ObjectAnswer {
  const { query } = request;
  const revision = revisionOf(query, store);
  if (query.has('sendInitialEvents') && query.get('resourceVersionMatch') !== 'NotOlderThan')
    throw forbiddenOption('resourceVersionMatch', 'must be NotOlderThan for sendInitialEvents');
  const events = eventsOf({ store, request, isSelected: filterOf(request), revision });
  return { kind: 'watch', events };
}

async function* eventsOf(subject: Watch): AsyncGenerator<SandboxWatchEvent> {
  const beginning = beginningOf(subject);
  if (beginning === undefined) {
    yield { type: 'ERROR', object: { ...expiredError().body, metadata: {} } };
    return;
  }
  const changes = changesOf(subject);
  try {
    yield* beginning;
    yield* changes;
  } finally {
    await changes.cancel();
  }
}

/** Returns undefined when the changes since the revision are no longer kept. */
function beginningOf(subject: Watch): readonly SandboxWatchEvent[] | undefined {
  const { store, request, isSelected, revision } = subject;
  const isWhole = isSet(request, 'sendInitialEvents') ?? revision === undefined;
  if (!isWhole)
    return store.since(revision ?? store.revision)?.flatMap((change) => eventsFor(subject, change));
  const objects = store.list(request.resource, request.namespace).filter(isSelected);
  const added = objects.map((object): SandboxWatchEvent => ({ type: 'ADDED', object }));
  return [...added, ...bookmarks(subject, { 'k8s.io/initial-events-end': 'true' })];
}

function changesOf(subject: Watch): ReadableStream<SandboxWatchEvent> {
  let stop: (() => void) | undefined;
  const start = (changes: ReadableStreamDefaultController<SandboxWatchEvent>): void => {
    stop = feed(subject, changes);
  };
  return new ReadableStream({ start, cancel: () => stop?.() }, { highWaterMark });
}

/** Returns a function that stops the feed. */
function feed(subject: Watch, changes: ReadableStreamDefaultController<SandboxWatchEvent>): () => void {
  const { store, request } = subject;
  const put = (event: SandboxWatchEvent): void => {
    if (changes.desiredSize === 0) close();
    else changes.enqueue(event);
  };
  const unsubscribe = store.subscribe((change) => eventsFor(subject, change).forEach(put));
  const marking = setInterval(() => bookmarks(subject).forEach(put), bookmarkMilliseconds).unref();
  const seconds = Number(request.query.get('timeoutSeconds'));
  const timeout = seconds > 0 ? Math.min(seconds * 1000, maxTimeoutMs) : maxTimeoutMs;
  const ending = setTimeout(close, timeout).unref();
  request.signal.addEventListener('abort', close);
  if (request.signal.aborted) close();
  return stop;

  function close(): void {
    stop();
    changes.close();
  }
  function stop(): void {
    unsubscribe();
    clearInterval(marking);
    clearTimeout(ending);
    request.signal.removeEventListener('abort', close);
  }
}

/** Returns no event for other objects. An object that begins or stops to match is added or deleted. */
function eventsFor({ request, isSelected }: Watch, change: Change): readonly SandboxWatchEvent[] {
  const { resource, object, before, type, revision } = change;
  if (groupResource(resource) !== groupResource(request.resource)) return [];
  if (request.namespace !== undefined && object.metadata.namespace !== request.namespace) return [];
  const was = before !== undefined && isSelected(before);
  const is = type !== 'deleted' && isSelected(object);
  if (is) return [{ type: was ? 'MODIFIED' : 'ADDED', object }];
  return was ? [{ type: 'DELETED', object: atRevision(before, revision) }] : [];
}

/** Returns one bookmark when the client asked for bookmarks. */
function bookmarks({ store, request }: Watch, annotations?: StringMap): readonly SandboxWatchEvent[] {
  if (isSet(request, 'allowWatchBookmarks') !== true) return [];
  const metadata = { resourceVersion: String(store.revision), ...(annotations && { annotations }) };
  return [{ type: 'BOOKMARK', object: withType(request.resource, { metadata }) }];
}

/** A flag without a value is true. */
function isSet({ query }: ObjectRequest, name: string): boolean | undefined {
  const text = query.get(name)?.toLowerCase();
  return text === undefined ? undefined : text !== '0' && text !== 'false';
}
