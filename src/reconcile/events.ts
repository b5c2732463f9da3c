// Tells people what happened: on the policy or share, and on the object concerned, where the tenants of its namespace see it.
import { apiVersion } from '../api/names.ts';
import type { Observed } from '../policy/plan/observed.ts';
import type { WriteStep } from '../policy/plan/plan-claim.ts';
import type { PlanStep } from '../policy/plan/plan.ts';
import { kindOfProvider, nameOfProvider, type ProviderId } from '../policy/terms/provider-id.ts';
import type { ClusterSnapshot } from '../policy/compile/snapshot.ts';
import type { UnsyncedObject } from '../policy/status/provider-report.ts';
import type { EventObject, EventRecorder, RecordedEvent } from './ports.ts';

/** A step that changes something. */
export type DoneStep = Exclude<PlanStep, { readonly kind: 'read' | 'read-source' }>;

type Happening = Pick<RecordedEvent, 'type' | 'reason' | 'action'>;

export class Announcer {
  readonly #events: EventRecorder;
  readonly #snapshot: () => ClusterSnapshot;

  constructor(events: EventRecorder, snapshot: () => ClusterSnapshot) {
    this.#events = events;
    this.#snapshot = snapshot;
  }

  /** `object`: as it is now, or was last. */
  wrote(step: DoneStep, object: EventObject): void {
    const owner = ownerOf(step);
    const [reason, action] = happened(step);
    const happening: Happening = { type: 'Normal', reason, action };
    const why = step.kind === 'delete' && step.isExpired ? ': its time is over' : '';
    const where = `${object.kind} ${object.name} in namespace ${object.namespace ?? ''}`;
    this.#tellBoth(owner, object, happening, [`${reason} ${where}${why}`, `${reason} for ${owner}${why}`]);
  }

  /** An object is not as it should be, and was not known to be so before. */
  failed(
    owner: ProviderId,
    { namespace, reason, message }: UnsyncedObject,
    object: EventObject | undefined,
  ): void {
    const happening: Happening = { type: 'Warning', reason, action: 'Reconcile' };
    const concerned = object ?? this.#namespaceObject(namespace);
    const where = `${concerned.kind} ${concerned.name} in namespace ${namespace}`;
    this.#tellBoth(owner, concerned, happening, [`${where}: ${message}`, `${owner}: ${message}`]);
  }

  /** Something about the owner alone. */
  owner(owner: ProviderId, reason: string, note: string): void {
    const regarding = this.#providerObject(owner);
    this.#events.record({ regarding, type: 'Warning', reason, action: 'Reconcile', note });
  }

  #tellBoth(
    owner: ProviderId,
    object: EventObject,
    happening: Happening,
    [onProvider, onObject]: readonly [string, string],
  ): void {
    const providerObject = this.#providerObject(owner);
    this.#events.record({ regarding: providerObject, related: object, ...happening, note: onProvider });
    this.#events.record({ regarding: object, related: providerObject, ...happening, note: onObject });
  }

  #providerObject(owner: ProviderId): EventObject {
    const uid = this.#snapshot().owners.get(owner)?.uid;
    return withUid({ apiVersion, kind: kindOfProvider(owner), name: nameOfProvider(owner) }, uid);
  }

  /** With itself as its namespace, so that the event is written there. */
  #namespaceObject(name: string): EventObject {
    const uid = this.#snapshot().namespace(name)?.metadata.uid;
    return withUid({ apiVersion: 'v1', kind: 'Namespace', namespace: name, name }, uid);
  }
}

export function ownerOf(step: PlanStep): ProviderId {
  return step.kind === 'delete' || step.kind === 'release' ? step.owner : step.claim.owner;
}

export function eventObject(
  { type, namespace, name }: Pick<Observed, 'type' | 'namespace' | 'name'>,
  uid: string | undefined,
): EventObject {
  return withUid({ ...type, namespace, name }, uid);
}

function withUid(object: EventObject, uid: string | undefined): EventObject {
  return uid === undefined || uid === '' ? object : { ...object, uid };
}

function happened(step: DoneStep): readonly [reason: string, action: string] {
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
      return updated(step);
    default:
      return step satisfies never;
  }
}

function updated({ live, claim }: WriteStep): readonly [reason: string, action: string] {
  if (live?.owner === undefined) return ['Adopted', 'Adopt'];
  return live.owner === claim.owner ? ['Updated', 'Update'] : ['HandedOver', 'HandOver'];
}
