// Builds the object that a claim asks for, and checks it against the policies of the namespace.
import type { ContentKind } from '../../contents/content.ts';
import { createOnce } from '../../contents/create-once.ts';
import { contentKinds } from '../../contents/contents.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import {
  type KubeObject,
  type StringMap,
  annotationsOf,
  labelsOf,
  textsOf,
  withMetadata,
  nameOf,
} from '../../base/metadata.ts';
import {
  appliedAnnotation,
  expiresAtAnnotation,
  modeAnnotation,
  managedByLabel,
  managedByReeve,
  ownerAnnotation,
  providerLabels,
} from '../../schema/names.ts';
import { createHash } from 'node:crypto';
import { unlimitedBudget } from '../terms/budget.ts';
import { decide } from '../decide/decide.ts';
import { withSecretDefaults } from '../decide/mutate.ts';
import type { Review } from '../terms/review.ts';
import type { ReviewedResource } from '../../rules/rule.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { violationLine } from '../decide/settle.ts';
import { rfc3339 } from '../../base/time.ts';
import { isSameObjectType, secretObjectType, type ObjectType } from '../../base/object-type.ts';
import { kindOfProvider, nameOfProvider } from '../terms/provider-id.ts';
import type { CopyPayload } from './copy.ts';
import type { CompiledShare } from '../compile/compile-share.ts';
import type { Claim } from '../desired/desired.ts';
import { isDeepStrictEqual } from 'node:util';
import type { PlanInput } from './plan-input.ts';

/** Returns the object with its namespace, our labels and annotations and, for a Secret, the defaults of policies. */
export function desiredObject(
  claim: Claim,
  payload: CopyPayload | undefined,
  namespace: string,
  snapshot: ClusterSnapshot,
  now: Date,
): KubeObject {
  if (claim.content.kind === 'copy') {
    const { labels, annotations } = claim.content.metadata;
    const copy = marked(claim, namespace, payload?.body ?? {}, labels, annotations);
    const isSecret = isSameObjectType(claim.type, secretObjectType);
    const defaulted =
      isSecret && snapshot.policies.judges('secrets')
        ? withSecretDefaults(reviewOf(copy, 'secrets', namespace), copy, snapshot, now)
        : copy;
    return named(claim, withForm(defaulted, claim.content.share));
  }
  const { body } = claim.content;
  const [labels, annotations] = ['labels', 'annotations'].map((field) => ownMember(metadataOf(body), field));
  // Without metadata of the policy, all that Reeve wrote is compared as it is. Else the hash shows a key that was removed.
  const isPlain = isWhollyOurs(claim) && labels === undefined && annotations === undefined;
  const applied = isPlain ? {} : { [appliedAnnotation]: hashOf(body) };
  return named(
    claim,
    marked(claim, namespace, body, textsOf(labels), { ...textsOf(annotations), ...applied }),
  );
}

/** Adds the metadata that the object is found by: its provider and its expiry. */
function named({ provider, expiresAt, once }: Claim, object: KubeObject): KubeObject {
  const name = new Map([[providerLabels[kindOfProvider(provider)], nameOfProvider(provider)]]);
  const expiry =
    expiresAt === undefined ? [] : [[expiresAtAnnotation, rfc3339(new Date(expiresAt))] as const];
  const mode = once === undefined ? [] : [[modeAnnotation, createOnce] as const];
  return withMetadata(withMetadata(object, 'labels', name), 'annotations', new Map([...expiry, ...mode]));
}

/** Returns the object without that metadata, as earlier versions of Reeve wrote it. */
export function unnamed(object: KubeObject): KubeObject {
  const names: readonly string[] = Object.values(providerLabels);
  const labels = Object.fromEntries(Object.entries(labelsOf(object)).filter(([key]) => !names.includes(key)));
  const { [expiresAtAnnotation]: _expiry, ...annotations } = annotationsOf(object);
  return { ...object, metadata: { ...object.metadata, labels, annotations } };
}

/** Returns true for objects whose whole content Reeve owns: it removes fields that it did not write. */
export function isWhollyOurs({ type, content }: Pick<Claim, 'type' | 'content'>): boolean {
  return content.kind === 'copy' || kindOfContent(type)?.ownsAllFields === true;
}

/** Returns the kind of content that is about objects of the type alone, and owns them. */
function kindOfContent(type: ObjectType): ContentKind | undefined {
  return contentKinds.find(
    (kind) => kind.ownership === 'object' && kind.type !== undefined && isSameObjectType(kind.type, type),
  );
}

/** Adds an annotation with the hash of the form of the copy: metadata, type and keys, and never the payload. */
function withForm(copy: KubeObject, { copy: spec, sources }: CompiledShare): KubeObject {
  const labels = Object.entries(labelsOf(copy)).sort(byKey);
  const annotations = Object.entries(annotationsOf(copy)).sort(byKey);
  // The order of the fields stays: another hash would write all copies again.
  const { type, keys, isImmutable, template, dockerConfig, bundleKey } = spec;
  const form = { type, keys, isImmutable, template, dockerConfig, bundleKey, sourceKeys: keysOf(sources) };
  const applied = hashOf({ labels, annotations, ...form });
  return withMetadata(copy, 'annotations', new Map([[appliedAnnotation, applied]]));
}

/** Undefined for a share whose sources name no keys of their own. */
function keysOf(sources: CompiledShare['sources']): unknown {
  const all = sources.map(({ keys }) => keys);
  return all.some((keys) => keys !== undefined) ? all : undefined;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function marked(
  { type, name, provider }: Claim,
  namespace: string,
  body: JsonObject,
  labels: StringMap,
  annotations: StringMap,
): KubeObject {
  return {
    ...body,
    apiVersion: type.apiVersion,
    kind: type.kind,
    metadata: {
      ...metadataOf(body),
      name,
      namespace,
      labels: { ...labels, [managedByLabel]: managedByReeve },
      annotations: { ...annotations, [ownerAnnotation]: provider },
    },
  };
}

function metadataOf(body: JsonObject): JsonObject {
  const metadata = ownMember(body, 'metadata');
  return isJsonObject(metadata) ? metadata : {};
}

function hashOf(body: JsonObject): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22);
}

/** Returns the denials of the policies of the namespace, or undefined if they allow the write from `oldObject` to `object`. */
export function refusalOf(
  { type }: Pick<Claim, 'type'>,
  object: KubeObject,
  oldObject: KubeObject | undefined,
  snapshot: ClusterSnapshot,
  now: Date,
): string | undefined {
  const resource = judgedResource(type);
  if (resource === undefined || !snapshot.policies.judges(resource)) return undefined;
  const creation = reviewOf(object, resource, object.metadata.namespace ?? '');
  const review: Review = oldObject === undefined ? creation : { ...creation, operation: 'UPDATE', oldObject };
  const { violations } = decide(review, snapshot, { now, budget: unlimitedBudget });
  const denials = violations.filter(({ actions }) => actions.includes('Deny'));
  return denials.length === 0
    ? undefined
    : denials.map(({ violation }) => violationLine(violation)).join('; ');
}

/** Returns undefined for types that no policy has rules for. */
function judgedResource(type: ObjectType): ReviewedResource | undefined {
  if (isSameObjectType(type, secretObjectType)) return 'secrets';
  return kindOfContent(type)?.judgedAs;
}

function reviewOf(object: KubeObject, resource: ReviewedResource, namespace: string): Review {
  const name = object.metadata.name ?? '';
  return {
    uid: '',
    resource,
    subresource: '',
    operation: 'CREATE',
    name,
    namespace,
    requester: { username: '', groups: [] },
    dryRun: false,
    isOwnWrite: true,
    object,
    attributes: {},
  };
}

// Compares what two providers want of one object, apart from the marks of its owner.

/** The facts of a namespace that a comparison of claims needs. */
type ComparedIn = Pick<PlanInput, 'namespaceObject' | 'snapshot' | 'copyStateOf' | 'now'>;

/** Returns the fields in which the claims differ, in the words of the status. Empty if one object satisfies both. */
export function differingFields(a: Claim, b: Claim, input: ComparedIn): readonly string[] {
  const [one, other] = [wantedBy(a, b, input), wantedBy(b, a, input)];
  // Without both payloads, nothing shows that two sources hold the same data.
  if (!isDeepStrictEqual(one['source'], other['source'])) return ['source'];
  const fields = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...fields].filter((field) => !isDeepStrictEqual(one[field], other[field])).sort();
}

/** Returns the specs of the shares while one of their copies is not possible. */
function wantedBy(claim: Claim, other: Claim, input: ComparedIn): JsonObject {
  const { content, expiresAt: expiry } = claim;
  const payload = payloadOf(claim, input);
  if (content.kind === 'copy' && (payload === undefined || payloadOf(other, input) === undefined)) {
    const { share } = content;
    const { type, keys, template, dockerConfig, bundleKey: key, isImmutable: immutable } = share.copy;
    const { labels, annotations } = content.metadata;
    return { type, keys, template, dockerConfig, key, immutable, labels, annotations, source: share.sources };
  }
  const { namespaceObject, snapshot, now } = input;
  const object = unnamed(desiredObject(claim, payload, nameOf(namespaceObject), snapshot, now));
  const { [ownerAnnotation]: _owner, [appliedAnnotation]: _hash, ...annotations } = annotationsOf(object);
  const { metadata: _metadata, ...fields } = object;
  return { ...fields, labels: labelsOf(object), annotations, expiry };
}

function payloadOf({ content }: Claim, { copyStateOf }: ComparedIn): CopyPayload | undefined {
  const copy = content.kind === 'copy' ? copyStateOf(content.share) : undefined;
  return copy?.kind === 'ready' ? copy.payload : undefined;
}
