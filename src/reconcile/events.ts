// Records Kubernetes events: sums on the provider and on the namespace, and an event on each changed object.
import type { Observed } from '../policy/plan/observed.ts';
import type { WriteStep } from '../policy/plan/plan-claim.ts';
import { ownerOf, type ObjectStep } from '../policy/plan/plan.ts';
import { countedWord } from '../base/text.ts';
import type { RepairedKey } from '../policy/plan/repair.ts';
import { providerRef, type ProviderId } from '../policy/terms/provider-id.ts';
import type { UnsyncedObject } from '../policy/status/namespace-ready.ts';
import type { EventObject, EventRecorder, RecordedEvent } from '../base/recorded-event.ts';
import type { ReconcileContext } from './ports.ts';

/** The text of an event besides the change itself. */
export type EventNote = Required<Pick<Happening, 'message'>> & Pick<Happening, 'missingMs'>;

interface Window {
  readonly summary: EventSummary;
  /** Warnings about the provider alone, by reason. */
  readonly notes: Map<string, string>;
  /** The provider as it is now, because it may be deleted when the window ends. */
  readonly provider: EventObject;
  readonly since: number;
}

/** Everything that happens to objects of a provider within this time is one event. */
const windowMs = 1000;
/** The limit of a window while namespaces of the provider wait to be reconciled. */
const maxWindowMs = 15_000;

export class EventAnnouncer {
  readonly #context: ReconcileContext;
  readonly #events: EventRecorder;
  readonly #windows = new Map<ProviderId, Window>();
  /** The work of the present round, by namespace. */
  readonly #rounds = new Map<string, Map<ProviderId, EventSummary>>();

  constructor(context: ReconcileContext, events: EventRecorder) {
    this.#context = context;
    this.#events = events;
  }

  /** `object` is the current object, or the last state of a deleted one. `note` is the text of the event. */
  wrote(step: ObjectStep, object: EventObject, note?: EventNote): void {
    const provider = ownerOf(step);
    const { kind, name, namespace = '' } = object;
    const [reason, action] = reasonOf(step);
    const change = { type: 'Normal', reason, action } as const;
    const expiry = 'isExpired' in step && step.isExpired ? ['expired'] : [];
    const why = [...expiry, ...(note === undefined ? [] : [note.message])].join('; ');
    const message = why === '' ? {} : { message: why };
    const happening = { ...change, kind, name, namespace, object, ...note, ...message };
    this.#window(provider).summary.add(happening);
    // A namespace gains or loses an object. A change of an object is an event on the object.
    if (step.kind === 'create' || step.kind === 'delete' || step.kind === 'release')
      this.#round(namespace, provider).add(happening);
    else {
      const said = `${reason} for ${provider}${messageText(happening)}`;
      this.#record(object, change, said, this.#providerObject(provider));
    }
  }

  /** Records that fields of a ServiceAccount of another owner were written, or taken back. */
  wroteFields(provider: ProviderId, object: EventObject, verb: 'Updated' | 'Released'): void {
    const { kind, name, namespace = '' } = object;
    const action = verb === 'Updated' ? 'Update' : 'Release';
    const change = { type: 'Normal', reason: verb, action } as const;
    this.#window(provider).summary.add({ ...change, kind, name, namespace, object, message: 'fields only' });
    const said = verb === 'Updated' ? 'fields written for' : 'fields taken back for';
    this.#record(object, change, `${said} ${provider}`, this.#providerObject(provider));
  }

  /** Records a key that the policy has added to an existing Namespace, or whose value it has changed. */
  added(
    policy: ProviderId,
    namespace: string,
    { field, key, before }: Pick<RepairedKey, 'field' | 'key' | 'before'>,
  ): void {
    const kind = field === 'labels' ? 'label' : 'annotation';
    const reason = before === undefined ? 'Added' : 'Changed';
    const change = { type: 'Normal', reason, action: 'Repair' } as const;
    const happening = { ...change, kind, name: key, namespace };
    this.#window(policy).summary.add(happening);
    this.#round(namespace, policy).add(happening);
  }

  /** Records a failure that was not known before. `object` is the object of another owner, if that is the cause. */
  failed(provider: ProviderId, failure: UnsyncedObject, object: EventObject | undefined): void {
    const { reason } = failure;
    const change = warningOf(reason);
    const happening = { ...failure, ...change, ...(object === undefined ? {} : { object }) };
    this.#window(provider).summary.add(happening);
    this.#round(failure.namespace, provider).add(happening);
    if (object !== undefined)
      this.#record(object, change, `${provider}: ${failure.message}`, this.#providerObject(provider));
  }

  /** Records an event about a Namespace itself. */
  namespace(name: string, reason: string, note: string, type: Change['type'] = 'Warning'): void {
    this.#record(this.#namespaceObject(name), { ...warningOf(reason), type }, note);
  }

  /** Records a warning about the provider alone. */
  provider(provider: ProviderId, reason: string, note: string): void {
    this.#record(this.#providerObject(provider), warningOf(reason), note);
  }

  /** Records a warning at the end of the window. A later note with this reason replaces it, so the last number counts. */
  providerLater(provider: ProviderId, reason: string, note: string): void {
    this.#window(provider).notes.set(reason, note);
  }

  /** Records the work of a round of a namespace. Call it at the end of the round. */
  endRound(namespace: string): void {
    const round = this.#rounds.get(namespace) ?? [];
    this.#rounds.delete(namespace);
    for (const [provider, summary] of round)
      for (const { object: _, note, ...change } of summary.ofNamespace(provider))
        this.#record(this.#namespaceObject(namespace), change, note, this.#providerObject(provider));
  }

  /**
   * Records the events about a provider when their window is over. Call it whenever the provider is reconciled. `isSettled`
   * means that no namespace of the provider waits to be reconciled.
   */
  endWindow(provider: ProviderId, isSettled: boolean): void {
    const window = this.#windows.get(provider);
    if (window === undefined) return;
    const { clock, providerQueue } = this.#context;
    const left = window.since + (isSettled ? windowMs : maxWindowMs) - clock.monotonic();
    if (left > 0) providerQueue.addAfter(provider, left);
    else this.#recordWindow(provider, window);
  }

  /** Records everything, because this process ends or no longer leads. */
  flush(): void {
    for (const namespace of this.#rounds.keys()) this.endRound(namespace);
    for (const [provider, window] of this.#windows) this.#recordWindow(provider, window);
  }

  #recordWindow(provider: ProviderId, { summary, notes, provider: regarding }: Window): void {
    this.#windows.delete(provider);
    for (const [reason, note] of notes) this.#record(regarding, warningOf(reason), note);
    for (const { object, note, ...change } of summary.ofProvider())
      this.#record(regarding, change, note, object);
  }

  #record(regarding: EventObject, change: Change, note: string, related?: EventObject): void {
    this.#events.record({
      regarding,
      ...(related === undefined ? {} : { related }),
      ...change,
      note,
    });
  }

  #window(provider: ProviderId): Window {
    const known = this.#windows.get(provider);
    if (known !== undefined) return known;
    const { clock, providerQueue } = this.#context;
    const since = clock.monotonic();
    const regarding = this.#providerObject(provider);
    const window = { summary: new EventSummary(), notes: new Map(), provider: regarding, since };
    this.#windows.set(provider, window);
    providerQueue.addAfter(provider, windowMs);
    return window;
  }

  #round(namespace: string, provider: ProviderId): EventSummary {
    const round = this.#rounds.get(namespace) ?? new Map<ProviderId, EventSummary>();
    this.#rounds.set(namespace, round);
    const summary = round.get(provider) ?? new EventSummary();
    round.set(provider, summary);
    return summary;
  }

  #providerObject(provider: ProviderId): EventObject {
    const uid = this.#context.cluster.snapshot().providers.get(provider)?.uid;
    return withUid(providerRef(provider), uid);
  }

  /** Names the Namespace itself as its namespace, so that the event is stored there. */
  #namespaceObject(name: string): EventObject {
    const uid = this.#context.cluster.snapshot().namespace(name)?.metadata.uid;
    return withUid({ apiVersion: 'v1', kind: 'Namespace', namespace: name, name }, uid);
  }
}

export function eventSubject(
  { type, namespace, name }: Pick<Observed, 'type' | 'namespace' | 'name'>,
  uid: string | undefined,
): EventObject {
  return withUid({ ...type, namespace, name }, uid);
}

function warningOf(reason: string): Change {
  return { type: 'Warning', reason, action: 'Reconcile' };
}

function withUid(object: EventObject, uid: string | undefined): EventObject {
  return uid === undefined || uid === '' ? object : { ...object, uid };
}

function reasonOf(step: ObjectStep): readonly [reason: string, action: string] {
  switch (step.kind) {
    case 'create':
      return ['Created', 'Create'];
    case 'replace':
      return step.live?.owner === undefined ? ['Adopted', 'Replace'] : ['Replaced', 'Replace'];
    case 'delete':
      return [step.live.isHeld ? 'Deleting' : 'Deleted', 'Delete'];
    case 'release':
      return ['Released', 'Release'];
    case 'update':
    case 'dry-run':
      return updateReasonOf(step);
    default:
      return step satisfies never;
  }
}

function updateReasonOf({ live, claim }: WriteStep): readonly [reason: string, action: string] {
  if (live?.owner === undefined) return ['Adopted', 'Adopt'];
  return live.owner === claim.provider ? ['Updated', 'Update'] : ['HandedOver', 'HandOver'];
}

// Sums up changes and failures of many objects, so that one event reports them.

type Change = Pick<RecordedEvent, 'type' | 'reason' | 'action'>;

/** Something that happened to one object. */
interface Happening extends Change {
  /** `label` and `annotation` for a key of the Namespace. Undefined, like the name, for the namespace as a whole. */
  readonly kind?: string;
  readonly name?: string;
  readonly namespace: string;
  /** The error of a failure, or the reason of a deletion. */
  readonly message?: string;
  /** The longest time for which the object was missing while it was deleted and created again. */
  readonly missingMs?: number;
  /** The object, if the event can link to it. */
  readonly object?: EventObject;
}

/** Happenings with the same reason. Holds no list of objects, because a share can write into 10,000 namespaces. */
interface Sum {
  readonly change: Change;
  readonly namespaces: Set<string>;
  readonly kinds: Map<string, number>;
  /** The first by namespace, kind and name, so that the order of the work does not change the note. */
  first: Happening;
  missingMs: number | undefined;
  /** The names of the first objects. Notes on a namespace list them. */
  readonly named: string[];
}

interface SummedEvent extends Change {
  readonly note: string;
  /** Undefined when the event is about several objects. */
  readonly object: EventObject | undefined;
}

/** The number of objects that a note names, as in a refusal. */
const maxNamed = 3;

export class EventSummary {
  readonly #sums = new Map<string, Sum>();

  add(happening: Happening): void {
    const { type, reason, action, kind = 'Namespace', name, namespace, message } = happening;
    // Failures with one reason are one event. A deletion has a message only if the object has expired.
    const key = JSON.stringify([type, reason, action, type === 'Normal' && message]);
    const sum = this.#sums.get(key) ?? {
      change: { type, reason, action },
      namespaces: new Set<string>(),
      kinds: new Map<string, number>(),
      first: happening,
      missingMs: undefined,
      named: [],
    };
    this.#sums.set(key, sum);
    sum.namespaces.add(namespace);
    const { missingMs = sum.missingMs } = happening;
    sum.missingMs = missingMs === undefined ? undefined : Math.max(missingMs, sum.missingMs ?? 0);
    sum.kinds.set(kind, (sum.kinds.get(kind) ?? 0) + 1);
    if (orderOf(happening) < orderOf(sum.first)) sum.first = happening;
    if (name !== undefined && sum.named.length < maxNamed) sum.named.push(`${kind} ${name}`);
  }

  /** Example: `Created 26 Secrets in 26 namespaces`. */
  ofProvider(): readonly SummedEvent[] {
    return this.#events((sum) => {
      const { change, first, namespaces, missingMs } = sum;
      const isOne = countOf(sum) === 1;
      const where = countedWord(namespaces.size, 'namespace');
      // Without a kind and a name, the happening concerns the namespaces themselves.
      const many = first.name === undefined ? where : `${countText(sum)} in ${where}`;
      const objects = isOne ? placeText(first) : many;
      if (change.type === 'Normal')
        return `${change.reason} ${objects}${messageText({ ...first, missingMs })}`;
      return `${objects}${isOne ? '' : `; first ${placeText(first)}`}${messageText(first)}`;
    });
  }

  /** Example: `Created RoleBinding viewers, ResourceQuota team for NamespacePolicy/apps`. */
  ofNamespace(provider: string): readonly SummedEvent[] {
    return this.#events((sum) => {
      const { change, first, named, missingMs } = sum;
      const more = countOf(sum) - named.length;
      const objects = `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
      if (change.type === 'Normal')
        return `${change.reason} ${objects} for ${provider}${messageText({ ...first, missingMs })}`;
      return `${named.length === 0 ? '' : `${objects} of `}${provider}${messageText(first)}`;
    });
  }

  #events(noteOf: (sum: Sum) => string): readonly SummedEvent[] {
    return [...this.#sums.values()].map((sum) => ({
      ...sum.change,
      note: noteOf(sum),
      object: countOf(sum) === 1 ? sum.first.object : undefined,
    }));
  }
}

function countOf({ kinds }: Sum): number {
  return [...kinds.values()].reduce((sum, count) => sum + count, 0);
}

function countText({ kinds }: Sum): string {
  return [...kinds].map(([kind, count]) => countedWord(count, kind)).join(', ');
}

function placeText({ kind = '', name, namespace }: Happening): string {
  return name === undefined ? `namespace ${namespace}` : `${kind} ${name} in namespace ${namespace}`;
}

function messageText({ kind, message, missingMs }: MessageParts): string {
  if (message === undefined) return '';
  const what = kind === 'RoleBinding' ? 'access was interrupted' : 'it was missing';
  const gap = missingMs === undefined ? '' : `: ${what} for at most ${Math.ceil(missingMs)} ms`;
  return `: ${message}${gap}`;
}

type MessageParts = Pick<Happening, 'kind' | 'message'> & { readonly missingMs?: number | undefined };

function orderOf({ namespace, kind, name }: Happening): string {
  return `${namespace}/${kind ?? ''}/${name ?? ''}`;
}
