// Gives an adopted object back to its namespace: removes the fields that Reeve set, then our labels and annotations.
import { isJsonObject } from '../../base/json.ts';
import { KubeError } from '../../base/kube-error.ts';
import { type KubeObject, annotationsOf, labelsOf, valueOf } from '../../base/metadata.ts';
import {
  adoptedAnnotation,
  managedByLabel,
  managedByReeve,
  ownerAnnotation,
  withoutMarks,
} from '../../schema/names.ts';
import type { ObjectType } from '../../base/object-type.ts';
import type { Observed } from '../../policy/plan/observed.ts';
import { asApplied, managedBefore, remaindersOf } from '../../policy/plan/remainder.ts';
import type { ObjectWriter } from '../../base/object-writer.ts';

interface GivenBack {
  readonly object: KubeObject;
  /** The fields of Reeve that the object keeps, for the event. */
  readonly stays: readonly string[];
  /** Keys of a Secret that Reeve removes. */
  readonly removed: readonly string[];
}

/** Returns undefined for an object that no longer exists. After a rejection with a KubeError, the call can be repeated. */
export async function giveBack(
  writer: Pick<ObjectWriter, 'read' | 'mergePatch' | 'apply'>,
  { type, namespace, name, uid }: Pick<Observed, 'type' | 'namespace' | 'name' | 'uid'>,
  signal?: AbortSignal,
): Promise<GivenBack | undefined> {
  const ref = { ...type, namespace, name };
  const options = signal === undefined ? {} : { signal };
  const found = await writer.read(ref, signal);
  if (found?.metadata.uid !== uid) return undefined;
  if (valueOf(labelsOf(found), managedByLabel) !== managedByReeve)
    return { object: found, stays: [], removed: [] };
  const managedFields = asApplied(found.metadata['managedFields']);
  const { resourceVersion } = found.metadata;
  const owned =
    managedFields === undefined
      ? found
      : await writer.mergePatch(ref, { metadata: { resourceVersion, managedFields } }, options);
  const { object, stays } = await withoutOurFields(writer, type, { ...owned, ...type }, signal);
  const { labels, annotations } = withoutMarks;
  const metadata = {
    resourceVersion: object.metadata['resourceVersion'],
    labels: { ...labels, [managedByLabel]: managedBefore(found) ?? null },
    annotations: { ...annotations, [adoptedAnnotation]: null },
  };
  const removed = keysOf(type, found).filter((key) => !keysOf(type, object).includes(key));
  return { object: await writer.mergePatch(ref, { metadata }, options), stays, removed };
}

function keysOf({ kind }: ObjectType, { data }: KubeObject): readonly string[] {
  return kind === 'Secret' && isJsonObject(data) ? Object.keys(data).sort() : [];
}

const remembered: ReadonlySet<string> = new Set([ownerAnnotation, adoptedAnnotation]);

/** Applies only the mark and the fields that Kubernetes requires. The API server removes the fields that only Reeve owns. */
// oxlint-disable-next-line max-params -- one caller, which has them all at hand
async function withoutOurFields(
  writer: Pick<ObjectWriter, 'apply'>,
  type: ObjectType,
  found: KubeObject,
  signal: AbortSignal | undefined,
): Promise<Omit<GivenBack, 'removed'>> {
  const { name = '', namespace = '', uid = '', resourceVersion } = found.metadata;
  const labels = { [managedByLabel]: managedByReeve };
  // The object stays marked as adopted until the last request. So nothing deletes it when that request fails.
  const kept = Object.entries(annotationsOf(found)).filter(([key]) => remembered.has(key));
  const annotations = Object.fromEntries(kept);
  const mark = { name, namespace, uid, resourceVersion, labels, annotations };
  for (const { body, stays } of remaindersOf(found)) {
    try {
      const options = { force: true, ...(signal === undefined ? {} : { signal }) };
      return { object: await writer.apply({ ...body, ...type, metadata: mark }, options), stays };
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 422) throw error;
    }
  }
  return { object: found, stays: ['all its fields'] };
}
