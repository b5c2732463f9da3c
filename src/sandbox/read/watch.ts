// Serves watches: the present objects when asked for, then every change until the watch ends.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import type { StringMap } from '../../base/kube-object.ts';
import { expiredError, groupResource } from '../api-error.ts';
import type { ObjectRequest } from '../request.ts';
import { withType } from '../resource.ts';
import { atRevision, type Change, type SandboxStore } from '../store.ts';
import { filterOf, type ObjectFilter } from './selectors.ts';
import { type ObjectAnswer, type SandboxWatchEvent, forbiddenOption, revisionOf } from './read.ts';

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
