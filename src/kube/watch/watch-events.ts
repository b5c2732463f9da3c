// Reads one line of a watch as an event.
// https://kubernetes.io/docs/reference/kubernetes-api/definitions/watch-event-v1-meta/
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { JsonObject } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { malformedAnswer } from '../http/answers.ts';
import type { WatchTarget } from './watch-target.ts';
import { resourceVersionOf, watchedObject } from './watched-object.ts';

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
export function readWatchEvent(line: string, target: Pick<WatchTarget, 'keepsManagers'>): WatchEvent {
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
