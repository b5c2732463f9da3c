// Records Kubernetes events: one on the policy or share, and one on the object for the tenants of the namespace.
import { apiVersion } from '../api/names.ts';
import type { Observed } from '../policy/plan/observed.ts';
import type { WriteStep } from '../policy/plan/plan-claim.ts';
import type { PlanStep } from '../policy/plan/plan.ts';
import { kindOfProvider, nameOfProvider, type ProviderId } from '../policy/terms/provider-id.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { UnsyncedObject } from '../policy/status/provider-report.ts';
import type { EventObject, EventRecorder, RecordedEvent } from './ports.ts';

/** A step that writes. The planner does the reading steps itself. */
export type DoneStep = Exclude<PlanStep, { readonly kind: 'read' | 'read-source' }>;

type Change = Pick<RecordedEvent, 'type' | 'reason' | 'action'>;

export interface EventAnnouncerOptions {
  readonly events: EventRecorder;
  readonly cluster: Pick<LiveCluster, 'snapshot'>;
}

export class EventAnnouncer {
  readonly #events: EventRecorder;
  readonly #cluster: Pick<LiveCluster, 'snapshot'>;

  constructor({ events, cluster }: EventAnnouncerOptions) {
    this.#events = events;
    this.#cluster = cluster;
  }

  /** `object` is the current object, or its last state when it was deleted. */
  wrote(step: DoneStep, object: EventObject): void {
    const provider = ownerOf(step);
    const [reason, action] = reasonOf(step);
    const what: Change = { type: 'Normal', reason, action };
    const why = step.kind === 'delete' && step.isExpired ? ': it has expired' : '';
    const where = `${object.kind} ${object.name} in namespace ${object.namespace ?? ''}`;
    this.#recordBoth(provider, object, what, [`${reason} ${where}${why}`, `${reason} for ${provider}${why}`]);
  }

  /** Records a failure that was not known before. */
  failed(
    provider: ProviderId,
    { namespace, reason, message }: UnsyncedObject,
    object: EventObject | undefined,
  ): void {
    const what: Change = { type: 'Warning', reason, action: 'Reconcile' };
    const concerned = object ?? this.#namespaceObject(namespace);
    const where = `${concerned.kind} ${concerned.name} in namespace ${namespace}`;
    this.#recordBoth(provider, concerned, what, [`${where}: ${message}`, `${provider}: ${message}`]);
  }

  /** Records a warning about the provider alone. */
  provider(provider: ProviderId, reason: string, note: string): void {
    const regarding = this.#providerObject(provider);
    this.#events.record({ regarding, type: 'Warning', reason, action: 'Reconcile', note });
  }

  #recordBoth(
    provider: ProviderId,
    object: EventObject,
    change: Change,
    [onProvider, onObject]: readonly [string, string],
  ): void {
    const providerObject = this.#providerObject(provider);
    this.#events.record({ regarding: providerObject, related: object, ...change, note: onProvider });
    this.#events.record({ regarding: object, related: providerObject, ...change, note: onObject });
  }

  #providerObject(provider: ProviderId): EventObject {
    const uid = this.#cluster.snapshot().providers.get(provider)?.uid;
    return withUid({ apiVersion, kind: kindOfProvider(provider), name: nameOfProvider(provider) }, uid);
  }

  /** Has itself as its namespace, so that the event is stored there. */
  #namespaceObject(name: string): EventObject {
    const uid = this.#cluster.snapshot().namespace(name)?.metadata.uid;
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

function withUid(object: EventObject, uid: string | undefined): EventObject {
  return uid === undefined || uid === '' ? object : { ...object, uid };
}

function reasonOf(step: DoneStep): readonly [reason: string, action: string] {
  switch (step.kind) {
    case 'create':
      return ['Created', 'Create'];
    case 'replace':
      return ['Replaced', 'Replace'];
    case 'delete':
      return ['Deleted', 'Delete'];
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
