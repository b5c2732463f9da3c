// Renders the objects that Reeve provides in one namespace, as the reconciler would create them.
import { ownMember } from '../../base/json.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { providerLabels } from '../../schema/names.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { asStored } from '../../policy/terms/match.ts';
import { desired, type Claim } from '../../policy/desired/desired.ts';
import { copyOf, unavailable, type CopyState } from '../../policy/plan/copy.ts';
import { desiredObject, refusalOf } from '../../policy/plan/desired-object.ts';
import type { ClusterState } from './cluster-state.ts';

export interface ProvidedObjects {
  /** Sorted by kind and name. */
  readonly objects: readonly KubeObject[];
  /** Objects that a provider wants here and that Reeve does not create, each with the reason. */
  readonly blocked: readonly { readonly name: string; readonly reason: string }[];
}

export interface Known {
  readonly state: ClusterState;
  readonly snapshot: ClusterSnapshot;
}

/** `written` may be the Namespace as a request would leave it. */
export function providedObjects(written: KubeObject, state: Known, now: Date): ProvidedObjects {
  const namespace = asStored(written);
  const known = { ...state, snapshot: withNamespace(state.snapshot, namespace) };
  const { claims, frozen, skipped } = desired(namespace, known.snapshot, now);
  const objects: KubeObject[] = [];
  const blocked = skipped.map(({ type, name, message }) => ({
    name: `${type.kind}/${name}`,
    reason: message,
  }));
  for (const [claim] of claims.values()) {
    if (claim === undefined) continue;
    const name = `${claim.type.kind}/${claim.name}`;
    const freeze = frozen.get(claim.provider);
    const made = freeze === undefined ? providedBy(claim, nameOf(namespace), known, now) : freeze.message;
    if (typeof made === 'string') blocked.push({ name, reason: made });
    else objects.push(made);
  }
  return { objects: objects.toSorted(byName), blocked };
}

/** Returns the object, or the reason why Reeve does not create it. */
export function providedBy(
  claim: Claim,
  namespace: string,
  { state, snapshot }: Known,
  now: Date,
): KubeObject | string {
  const { content } = claim;
  const copy = content.kind === 'copy' ? copyStateOf(content.share, state, now) : undefined;
  if (copy?.kind === 'unavailable') return copy.message;
  const payload = copy?.kind === 'ready' ? copy.payload : undefined;
  const object = desiredObject(claim, payload, namespace, snapshot, now);
  return refusalOf(claim, object, undefined, snapshot, now) ?? object;
}

function withNamespace(snapshot: ClusterSnapshot, namespace: KubeObject): ClusterSnapshot {
  const name = nameOf(namespace);
  return { ...snapshot, namespace: (wanted) => (wanted === name ? namespace : snapshot.namespace(wanted)) };
}

type Share = Extract<Claim['content'], { readonly kind: 'copy' }>['share'];

function copyStateOf(share: Share, state: Known['state'], now: Date): CopyState {
  const found: KubeObject[] = [];
  for (const { type, namespace, name } of share.sources) {
    if (!state.install.sourceNamespaces.includes(namespace))
      return unavailable('SourceNotAllowed', `this installation has no sources in namespace ${namespace}`);
    const source = state.find(type, namespace, name);
    if (source === undefined)
      return unavailable('SourceMissing', `there is no ${type.kind} ${namespace}/${name}`);
    found.push(source);
  }
  return copyOf(share, found, now);
}

/** True for a Secret, and for the ConfigMap of a share, whose sources can be Secrets. */
export function hidesValues(object: unknown): boolean {
  const labels = ownMember(ownMember(object, 'metadata'), 'labels');
  const isShared = ownMember(labels, providerLabels.ConfigMapShare) !== undefined;
  return ownMember(object, 'kind') === 'Secret' || isShared;
}

function byName(a: KubeObject, b: KubeObject): number {
  return objectNameOf(a) < objectNameOf(b) ? -1 : 1;
}

/** Example: `RoleBinding/developers`. */
export function objectNameOf(object: KubeObject): string {
  return `${object.kind ?? ''}/${nameOf(object)}`;
}
