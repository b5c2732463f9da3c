// An Event as the API server takes it. https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
import type { JsonObject } from '../../base/json.ts';
import { subdomain } from '../../api/kubernetes-names.ts';
import { group } from '../../api/names.ts';
import { microTime } from '../../base/time.ts';

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Left out for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly uid?: string;
}

export interface RecordedEvent {
  readonly regarding: EventSubject;
  readonly related?: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** One word in UpperCamelCase, for programs. */
  readonly reason: string;
  /** What was done or tried, as one word. */
  readonly action: string;
  /** For people. It must hold nothing secret: who may read events may not read Secrets. */
  readonly note: string;
  /** Where the Event is put; that of `regarding` unless given, and `default` for what has none. */
  readonly namespace?: string;
}

export interface EventSource {
  /** The last part of `reportingController`. */
  readonly component: string;
  /** This process: the name of its pod. */
  readonly instance: string;
}

/** How often an Event happened, and when first and last. */
export interface Occurrences {
  readonly count: number;
  readonly first: Date;
  readonly last: Date;
}

/** What the API server allows. https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/events.go */
const mostWordBytes = 128;
const mostNoteBytes = 1024;
const mostNameLength = 253;

export function namespaceOf({ namespace, regarding }: RecordedEvent): string {
  return namespace ?? regarding.namespace ?? 'default';
}

export function reportingController({ component }: EventSource): string {
  return `${group}/${component}`;
}

/** The name of the object, so that people find the Event, and what makes it unlike all others. */
export function eventName({ regarding }: RecordedEvent, unique: string): string {
  // Roles may be called what no Event may: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
  const base = wholeSubdomain.test(regarding.name) ? regarding.name : regarding.kind.toLowerCase();
  const room = mostNameLength - unique.length - 1;
  return `${base.slice(0, room).replace(/[-.]+$/, '')}.${unique}`;
}

const wholeSubdomain = new RegExp(`^${subdomain}$`);

export function eventObject(
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
    ...(occurrences.count < 2 ? {} : { series: eventSeries(occurrences) }),
    reportingController: reportingController(source),
    reportingInstance: clippedBytes(source.instance, mostWordBytes),
    regarding: subjectIn(event, namespace),
    ...(event.related === undefined ? {} : { related: event.related }),
    type: event.type,
    reason: clippedBytes(event.reason, mostWordBytes),
    action: clippedBytes(event.action, mostWordBytes),
    note: clippedBytes(event.note, mostNoteBytes),
  };
}

export function eventSeries({ count, last }: Occurrences): JsonObject {
  return { count, lastObservedTime: microTime(last) };
}

/** Outside of `default`, the API server takes only what regards the same namespace, cluster-scoped or not. */
function subjectIn({ regarding }: RecordedEvent, namespace: string): EventSubject {
  const isImplied = regarding.namespace === undefined && namespace === 'default';
  return isImplied ? regarding : { ...regarding, namespace };
}

/** Cuts no character in two. */
function clippedBytes(text: string, mostBytes: number): string {
  if (Buffer.byteLength(text) <= mostBytes) return text;
  const ellipsis = '…';
  const bytes = Buffer.from(text).subarray(0, mostBytes - Buffer.byteLength(ellipsis));
  return `${new TextDecoder().decode(bytes, { stream: true })}${ellipsis}`;
}
