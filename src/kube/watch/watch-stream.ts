// Reads one watch from one version: its lines and events, until it ends for whatever reason.
import { isUtf8 } from 'node:buffer';
import type { Clock } from '../../base/clock.ts';
import { KubeError } from '../../base/kube-error.ts';
import { pause } from '../../base/abort.ts';
import { kubeErrorOf, noAnswer, malformedAnswer } from '../http/answers.ts';
import type { KubeClient, KubeRequest } from '../http/client.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import type { KubeObject, ObjectMeta } from '../../base/metadata.ts';
import type { WatchTarget } from './watch-target.ts';

interface WatchOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** How long a watch may be silent. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  /** If true, the objects keep their managedFields. */
  readonly keepsManagers?: boolean;
  /** Called when the server has accepted the watch. */
  onOpen(): void;
}

/** Ends normally when the server ends the watch or the signal aborts; otherwise the last event is of kind `failed`. */
export async function* watchStream(
  client: KubeClient,
  request: KubeRequest,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const silence = new SilenceTimer(options);
  const timing = silence.run();
  try {
    const chunks = await client.stream({ ...request, signal: silence.signal });
    options.onOpen();
    for await (const line of linesOf(chunks)) {
      silence.restart();
      const event = readWatchEvent(line, options);
      yield event;
      if (event.kind === 'failed') return;
    }
    if (silence.isOver) yield { kind: 'failed', error: stalled() };
  } catch (error) {
    if (!options.signal.aborted)
      yield { kind: 'failed', error: silence.isOver ? stalled() : kubeErrorOf(error) };
  } finally {
    silence.end();
    await timing;
  }
}

function stalled(): KubeError {
  return noAnswer('Stalled');
}

/** Aborts a watch that is silent too long: the server sends bookmarks, so its connection must be lost. */
class SilenceTimer {
  readonly #options: WatchOptions;
  readonly #ended = new AbortController();
  readonly signal: AbortSignal;
  #lastHeard: number;
  #isOver = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([options.signal, this.#ended.signal]);
    this.#lastHeard = options.clock.monotonic();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  restart(): void {
    this.#lastHeard = this.#options.clock.monotonic();
  }

  end(): void {
    this.#ended.abort();
  }

  async run(): Promise<void> {
    const { clock, stallMs } = this.#options;
    while (!this.signal.aborted) {
      const left = this.#lastHeard + stallMs - clock.monotonic();
      if (left > 0) {
        await pause(clock, left, this.signal);
      } else {
        this.#isOver = true;
        this.#ended.abort();
      }
    }
  }
}

const newline = 0x0a;

/** An object has a few MiB at most. A longer line is not from a watch, and would fill the memory. */
const maxLineBytes = 64 * 1024 * 1024;

/** Yields complete lines and drops an incomplete last one. Throws a KubeError, or the error of the chunks. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes = maxLineBytes,
): AsyncGenerator<string> {
  const line = new LineBuffer(maxBytes);
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      line.add(chunk.subarray(from, end));
      from = end + 1;
      const text = line.take();
      if (text.trim() !== '') yield text;
    }
    line.add(chunk.subarray(from));
  }
}

/** Collects bytes, not text, because a chunk may end inside a character. */
class LineBuffer {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > this.#maxBytes) throw malformedAnswer();
    if (part.length > 0) this.#parts.push(part);
  }

  take(): string {
    const bytes = Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    return decoded(bytes);
  }
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformedAnswer();
  return bytes.toString('utf8');
}

// Reads one line of a watch as an event.
// https://kubernetes.io/docs/reference/kubernetes-api/definitions/watch-event-v1-meta/

export type WatchEvent =
  | {
      readonly kind: 'changed' | 'removed';
      readonly object: KubeObject;
      readonly resourceVersion: string;
    }
  /** Nothing else happened up to this version. */
  | { readonly kind: 'bookmark'; readonly resourceVersion: string; readonly endsInitialState: boolean }
  /** The last event of a watch that ended with an error. */
  | { readonly kind: 'failed'; readonly error: KubeError };

/** Returns a `failed` event for a line that cannot be read, and for an error of the server. */
function readWatchEvent(line: string, target: Pick<WatchTarget, 'keepsManagers'>): WatchEvent {
  const parsed = parsedJson(line);
  const object = ownMember(parsed, 'object');
  return (
    (isJsonObject(object) ? eventOf(ownMember(parsed, 'type'), object, target) : undefined) ?? unreadable()
  );
}

function eventOf(
  type: unknown,
  object: JsonObject,
  target: Pick<WatchTarget, 'keepsManagers'>,
): WatchEvent | undefined {
  if (type === 'ERROR') return { kind: 'failed', error: statusError(object) };
  const resourceVersion = resourceVersionOf(object);
  if (resourceVersion === undefined) return undefined;
  if (type === 'BOOKMARK') {
    const annotations = ownMember(object['metadata'], 'annotations');
    return {
      kind: 'bookmark',
      resourceVersion,
      endsInitialState: ownMember(annotations, initialEnd) === 'true',
    };
  }
  const kind = changes.get(type);
  const watched = watchedObject(object, target);
  return kind === undefined || watched === undefined ? undefined : { kind, object: watched, resourceVersion };
}

/** https://kubernetes.io/docs/reference/labels-annotations-taints/#k8s-io-initial-events-end */
const initialEnd = 'k8s.io/initial-events-end';

const changes: ReadonlyMap<unknown, 'changed' | 'removed'> = new Map([
  ['ADDED', 'changed'],
  ['MODIFIED', 'changed'],
  ['DELETED', 'removed'],
]);

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function unreadable(): WatchEvent {
  return { kind: 'failed', error: malformedAnswer() };
}

/** An ERROR carries a metav1.Status, whose message may quote objects. */
function statusError(status: JsonObject): KubeError {
  const code = ownMember(status, 'code');
  const reason = ownMember(status, 'reason');
  const seconds = ownMember(ownMember(status, 'details'), 'retryAfterSeconds');
  return new KubeError({
    code: typeof code === 'number' ? code : 500,
    reason: typeof reason === 'string' && oneWord.test(reason) ? reason : 'Unknown',
    retryable: true,
    ...(typeof seconds === 'number' && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

const oneWord = /^[A-Z][A-Za-z]{1,63}$/;

// Reads one object from a list or a watch: checks its metadata, and drops managedFields unless a watch keeps them.

/** Kind and version of the items of a list, which the items themselves do not have. */
export interface ItemKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Returns undefined when the API server could not have stored such an object. */
export function watchedObject(
  value: unknown,
  { keepsManagers = false }: Pick<WatchTarget, 'keepsManagers'>,
  itemKind?: ItemKind,
): KubeObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const { metadata, ...rest } = value;
  if (!hasValidMetadata(metadata)) return undefined;
  if (keepsManagers) return { ...itemKind, ...rest, metadata };
  // The managedFields are often more than half of an object.
  const { managedFields: _, ...kept } = metadata;
  return { ...itemKind, ...rest, metadata: kept };
}

function hasValidMetadata(metadata: unknown): metadata is ObjectMeta {
  return (
    isJsonObject(metadata) &&
    isText(metadata['name']) &&
    isText(metadata['uid']) &&
    isText(metadata['resourceVersion']) &&
    ['generateName', 'namespace', 'deletionTimestamp'].every((field) => isOptionalText(metadata[field])) &&
    ['labels', 'annotations'].every((field) => isOptionalMap(metadata[field])) &&
    isOptionalOwners(metadata['ownerReferences'])
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isOptionalMap(value: unknown): boolean {
  return (
    value === undefined ||
    (isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string'))
  );
}

function isOptionalOwners(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isOwner));
}

function isOwner(value: unknown): boolean {
  return isJsonObject(value) && ownerFields.every((field) => isOptionalText(value[field]));
}

const ownerFields = ['apiVersion', 'kind', 'name', 'uid'];

/** Returns `metadata.resourceVersion` of an object, a list or a bookmark. */
export function resourceVersionOf({ metadata }: JsonObject): string | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const { resourceVersion } = metadata;
  return isText(resourceVersion) ? resourceVersion : undefined;
}
