// Words the steps of the reconciler's plan as rows: what Reeve would write, and how the object would differ.
import {
  type KubeObject,
  type StringMap,
  annotationsOf,
  labelsOf,
  type MetadataField,
} from '../../base/metadata.ts';
import { isJsonObject, ownMember } from '../../base/json.ts';
import { isWhollyOurs } from '../../policy/plan/desired-object.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import { isDefaultAccount } from '../../policy/plan/ownership.ts';
import type { AccountStep } from '../../policy/plan/plan-account.ts';
import type { WriteStep } from '../../policy/plan/plan-claim.ts';
import { serviceAccountType, type ObjectType } from '../../policy/terms/object-key.ts';
import type { DoneStep } from '../../reconcile/events.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import type { PlanChange } from '../output-schemas/plan-output.ts';
import { changedFields } from './field-changes.ts';
import { fieldsOfReeve, holdsAll, ownPart } from './owned-fields.ts';

type Removal = Extract<DoneStep, { readonly kind: 'delete' | 'release' }>;

/** Returns undefined if the step would write nothing, or cannot be taken yet. */
export function stepRow(step: DoneStep, state: ClusterState): PlanChange | undefined {
  if (step.kind === 'delete' || step.kind === 'release') return removalRow(step);
  const { claim, live, object } = step;
  const about = { object: plannedObject(claim, object.metadata.namespace), provider: claim.provider };
  if (live === undefined)
    return isDefaultAccount(claim.type, claim.name)
      ? undefined
      : { action: 'create', ...about, certain: true };
  const stored = storedForm(live, state);
  const set = stored === undefined ? undefined : fieldsOfReeve(stored);
  if (step.kind === 'check' && set !== undefined && holdsAll(set, contentOf(object))) return undefined;
  const diff = stored === undefined ? [] : changedFields(comparedPart(stored, step), object);
  if (step.kind === 'replace')
    return { action: 're-create', ...about, certain: true, message: whyReplaced(step), diff };
  // Without managers only the API server knows whether it has stored the same value in another form.
  return { action: 'update', ...about, certain: step.kind !== 'check', diff };
}

function removalRow({ kind, owner, live, isExpired, ...step }: Removal): PlanChange {
  const about = { object: plannedObject(live, live.namespace), provider: owner, certain: true };
  const expiry = isExpired ? { reason: 'Expired', message: 'its end has come' } : {};
  const held = live.isHeld ? { message: heldByFinalizers } : {};
  if (kind === 'delete') return { action: 'delete', ...about, ...expiry, ...held };
  const isOrphaned = 'isOrphaned' in step && step.isOrphaned;
  const message = isOrphaned
    ? 'the object stays, and Reeve no longer manages it'
    : 'another client created the object, so Reeve removes only what it added';
  return { action: 'release', ...about, ...expiry, message };
}

export function accountRow({ live, applies, claims, leaving }: AccountStep): PlanChange {
  const owners = [...claims.map(({ provider }) => provider), ...leaving];
  const metadata = { name: live.name, namespace: live.namespace };
  const wanted = applies.flatMap(({ fields }) => (Object.keys(fields).length === 0 ? [] : [fields])).at(-1);
  const before = {
    ...serviceAccountType,
    metadata,
    ...(live.pullSecrets.length === 0
      ? {}
      : { imagePullSecrets: live.pullSecrets.map((name) => ({ name })) }),
    ...(live.automount === undefined ? {} : { automountServiceAccountToken: live.automount }),
  };
  const [provider, ...others] = new Set(owners);
  const taken = leaving.length === 0 ? [] : [`the fields of ${leaving.join(' and ')} are taken back`];
  const more = others.length === 0 ? [] : [`also for ${others.join(' and ')}`];
  const message = [...taken, ...more].join('; ');
  return {
    action: 'update',
    object: plannedObject({ type: serviceAccountType, name: live.name }, live.namespace),
    ...(provider === undefined ? {} : { provider }),
    certain: true,
    ...(message === '' ? {} : { message }),
    diff: wanted === undefined ? [] : changedFields(before, { ...before, ...wanted }),
  };
}

export function plannedObject(
  { type, name }: { readonly type: ObjectType; readonly name: string },
  namespace?: string,
) {
  const { apiVersion, kind } = type;
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name };
}

/** The reconciler keeps only a hash of a Secret. */
function storedForm(
  { content, type, namespace, name }: Observed,
  state: ClusterState,
): KubeObject | undefined {
  return content.kind === 'object' ? content.object : state.find(type, namespace, name);
}

function contentOf({ apiVersion: _version, kind: _kind, ...content }: KubeObject) {
  const { labels, annotations } = content.metadata;
  return { ...content, metadata: { labels, annotations } };
}

/** Returns the live fields that Reeve owns, sets or removes. */
function comparedPart(stored: KubeObject, { claim, object, surplus }: WriteStep): KubeObject {
  const set = fieldsOfReeve(stored);
  const isWhole = isWhollyOurs(claim) || Object.keys(surplus.fields).length > 0;
  const content = isWhole ? stored : ownPart(stored, object, set);
  const owned = ownMember(set, 'f:metadata');
  const pick = (field: MetadataField, map: StringMap, wanted: StringMap): StringMap =>
    Object.fromEntries(
      Object.entries(map).filter(
        ([key]) =>
          Object.hasOwn(wanted, key) ||
          surplus[field].includes(key) ||
          ownMember(ownMember(owned, `f:${field}`), `f:${key}`) !== undefined,
      ),
    );
  return {
    ...(isJsonObject(content) ? content : {}),
    kind: object.kind ?? '',
    metadata: {
      labels: pick('labels', labelsOf(stored), labelsOf(object)),
      annotations: pick('annotations', annotationsOf(stored), annotationsOf(object)),
    },
  };
}

function whyReplaced({ claim, object, live }: WriteStep): string {
  const isOfOtherType = live?.content.kind === 'secret' && live.content.facts.type !== object['type'];
  const unchanging = claim.type.kind === 'Secret' ? 'immutable data' : 'roleRef';
  const why = `the API server does not allow a change of ${isOfOtherType ? 'the type' : unchanging}`;
  return live?.isHeld === true ? `${why}; ${heldByFinalizers}` : why;
}

/** A re-creation then ends with the deletion, until another client removes the finalizers. */
export const heldByFinalizers = 'the object has finalizers, so it stays until they are removed';
