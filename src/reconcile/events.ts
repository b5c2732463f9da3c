// Records Kubernetes events: summed up on the provider and on the namespace, and one on each changed object.
import type { Observed } from '../policy/plan/observed.ts';
import type { WriteStep } from '../policy/plan/plan-claim.ts';
import type { PlanStep } from '../policy/plan/plan.ts';
import type { MissingKey } from '../policy/plan/repair.ts';
import { providerRef, type ProviderId } from '../policy/terms/provider-id.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { UnsyncedObject } from '../policy/status/namespace-ready.ts';
import type { Clock } from '../base/clock.ts';
import { EventSummary, messageText, type Change, type Happening } from './event-summary.ts';
import type { EventObject, EventRecorder } from './ports.ts';
import type { WorkQueue } from './queue/queue.ts';

/** A step that writes. The planner does the reading steps itself. */
export type DoneStep = Exclude<PlanStep, { readonly kind: 'read' | 'read-source' }>;

/** What an event says besides the change itself. */
export type EventNote = Required<Pick<Happening, 'message'>> & Pick<Happening, 'missingMs'>;

interface EventAnnouncerOptions {
  readonly events: EventRecorder;
  readonly cluster: Pick<LiveCluster, 'snapshot'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly providerQueue: Pick<WorkQueue<ProviderId>, 'addAfter'>;
}

interface Window {
  readonly summary: EventSummary;
  /** Warnings about the provider alone, by reason. */
  readonly notes: Map<string, string>;
  /** With the UID of now: the provider may be deleted when the window ends. */
  readonly provider: EventObject;
  readonly since: number;
}

/** What happens to objects of a provider within so long is one event. */
const windowMs = 1000;
/** While namespaces of the provider wait to be reconciled, a window lasts so long. */
const maxWindowMs = 15_000;

export class EventAnnouncer {
  readonly #options: EventAnnouncerOptions;
  readonly #windows = new Map<ProviderId, Window>();
  /** By namespace: what its round has done so far. */
  readonly #rounds = new Map<string, Map<ProviderId, EventSummary>>();

  constructor(options: EventAnnouncerOptions) {
    this.#options = options;
  }

  /** `object` is the current object, or its last state when it was deleted. `note` says more. */
  wrote(step: DoneStep, object: EventObject, note?: EventNote): void {
    const provider = ownerOf(step);
    const { kind, name, namespace = '' } = object;
    const [reason, action] = reasonOf(step);
    const change = { type: 'Normal', reason, action } as const;
    const expiry = 'isExpired' in step && step.isExpired ? ['expired'] : [];
    const why = [...expiry, ...(note === undefined ? [] : [note.message])].join('; ');
    const happening = {
      ...change,
      kind,
      name,
      namespace,
      object,
      ...note,
      ...(why === '' ? {} : { message: why }),
    };
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

  /** Records a default that the policy has added to an existing Namespace. */
  added(policy: ProviderId, namespace: string, { field, key }: Pick<MissingKey, 'field' | 'key'>): void {
    const kind = field === 'labels' ? 'label' : 'annotation';
    const change = { type: 'Normal', reason: 'Added', action: 'Repair' } as const;
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

  /** Records a warning about the provider alone. */
  provider(provider: ProviderId, reason: string, note: string): void {
    this.#record(this.#providerObject(provider), warningOf(reason), note);
  }

  /** Records a warning at the end of the window. A later note with this reason replaces it, so the last number counts. */
  providerLater(provider: ProviderId, reason: string, note: string): void {
    this.#window(provider).notes.set(reason, note);
  }

  /** Records what a round of a namespace has done. Call it at the end of the round. */
  endRound(namespace: string): void {
    const round = this.#rounds.get(namespace) ?? [];
    this.#rounds.delete(namespace);
    for (const [provider, summary] of round)
      for (const { object: _, note, ...change } of summary.ofNamespace(provider))
        this.#record(this.#namespaceObject(namespace), change, note, this.#providerObject(provider));
  }

  /**
   * Records the events about a provider when their window is over. Call it whenever the provider is reconciled. `isSettled`:
   * no namespace of the provider waits to be reconciled.
   */
  endWindow(provider: ProviderId, isSettled: boolean): void {
    const window = this.#windows.get(provider);
    if (window === undefined) return;
    const { clock, providerQueue } = this.#options;
    const left = window.since + (isSettled ? windowMs : maxWindowMs) - clock.monotonic();
    if (left > 0) providerQueue.addAfter(provider, left);
    else this.#recordWindow(provider, window);
  }

  /** Records everything: this process ends, or is no longer the leader. */
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
    this.#options.events.record({
      regarding,
      ...(related === undefined ? {} : { related }),
      ...change,
      note,
    });
  }

  #window(provider: ProviderId): Window {
    const known = this.#windows.get(provider);
    if (known !== undefined) return known;
    const { clock, providerQueue } = this.#options;
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
    const uid = this.#options.cluster.snapshot().providers.get(provider)?.uid;
    return withUid(providerRef(provider), uid);
  }

  /** Has itself as its namespace, so that the event is stored there. */
  #namespaceObject(name: string): EventObject {
    const uid = this.#options.cluster.snapshot().namespace(name)?.metadata.uid;
    return withUid({ apiVersion: 'v1', kind: 'Namespace', namespace: name, name }, uid);
  }
}

export function ownerOf(step: PlanStep): ProviderId {
  return step.kind === 'delete' || step.kind === 'release' ? step.owner : step.claim.provider;
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

function reasonOf(step: DoneStep): readonly [reason: string, action: string] {
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
    case 'check':
      return updateReasonOf(step);
    default:
      return step satisfies never;
  }
}

function updateReasonOf({ live, claim }: WriteStep): readonly [reason: string, action: string] {
  if (live?.owner === undefined) return ['Adopted', 'Adopt'];
  return live.owner === claim.provider ? ['Updated', 'Update'] : ['HandedOver', 'HandOver'];
}
