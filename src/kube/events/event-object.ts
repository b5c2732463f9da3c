// Builds an Event in the form that the API server accepts.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
import { subdomainPattern } from '../../schema/kubernetes-names.ts';
import { group } from '../../schema/names.ts';
import type { JsonObject } from '../../base/json.ts';
import { microTime } from '../../base/time.ts';

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Undefined for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly uid?: string;
}

export interface RecordedEvent {
  readonly regarding: EventSubject;
  readonly related?: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** One word in UpperCamelCase, for programs. */
  readonly reason: string;
  /** The action that was taken or tried, as one word. */
  readonly action: string;
  /** For people. It must not contain secrets: users who may read Events may not be allowed to read Secrets. */
  readonly note: string;
  /** The namespace of the Event; that of `regarding` by default, and `default` for a cluster-scoped object. */
  readonly namespace?: string;
}

export interface EventSource {
  /** The last part of `reportingController`. */
  readonly component: string;
  /** This process: the name of its pod. */
  readonly instance: string;
}

/** How often an event happened, and when for the first and the last time. */
interface Occurrences {
  readonly count: number;
  readonly first: Date;
  readonly last: Date;
}

/**
 * Limits of the API server.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/events.go
 */
const maxWordBytes = 128;
const maxNoteBytes = 1024;
const maxNameLength = 253;

export function namespaceOf({ namespace, regarding }: RecordedEvent): string {
  return namespace ?? regarding.namespace ?? 'default';
}

function reportingController({ component }: EventSource): string {
  return `${group}/${component}`;
}

/** Starts with the name of the object, so that people find the Event, and ends with the unique part. */
export function eventName({ regarding }: RecordedEvent, unique: string): string {
  // A Role may have a name that is not allowed for an Event.
  // https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
  const base = wholeSubdomain.test(regarding.name) ? regarding.name : regarding.kind.toLowerCase();
  const room = maxNameLength - unique.length - 1;
  return `${base.slice(0, room).replace(/[-.]+$/, '')}.${unique}`;
}

const wholeSubdomain = new RegExp(`^${subdomainPattern}$`);

export function eventBody(
  event: RecordedEvent,
  name: string,
  source: EventSource,
  occurrences: Occurrences,
): JsonObject {
  const namespace = namespaceOf(event);
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace },
    eventTime: microTime(occurrences.first),
    ...(occurrences.count < 2 ? {} : { series: seriesOf(occurrences) }),
    reportingController: reportingController(source),
    reportingInstance: clippedBytes(source.instance, maxWordBytes),
    regarding: subjectIn(event, namespace),
    ...(event.related === undefined ? {} : { related: event.related }),
    type: event.type,
    reason: clippedBytes(event.reason, maxWordBytes),
    action: clippedBytes(event.action, maxWordBytes),
    note: clippedBytes(event.note, maxNoteBytes),
  };
}

export function seriesOf({ count, last }: Pick<Occurrences, 'count' | 'last'>): JsonObject {
  return { count, lastObservedTime: microTime(last) };
}

/** Outside of `default`, the API server requires the namespace of the Event, even for a cluster-scoped object. */
function subjectIn({ regarding }: RecordedEvent, namespace: string): EventSubject {
  const isImplied = regarding.namespace === undefined && namespace === 'default';
  return isImplied ? regarding : { ...regarding, namespace };
}

/** Never cuts a character in two. */
function clippedBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const ellipsis = '…';
  const bytes = Buffer.from(text).subarray(0, maxBytes - Buffer.byteLength(ellipsis));
  return `${new TextDecoder().decode(bytes, { stream: true })}${ellipsis}`;
}
