// Compares what two providers want of one object, apart from the marks of its owner.
import { isDeepStrictEqual } from 'node:util';
import { appliedAnnotation, ownerAnnotation } from '../../schema/names.ts';
import type { JsonObject } from '../../base/json.ts';
import { annotationsOf, labelsOf, nameOf } from '../../base/metadata.ts';
import type { Claim } from '../desired/provider.ts';
import type { CopyPayload } from './copy.ts';
import { desiredObject, unnamed } from './desired-object.ts';
import type { PlanInput } from './plan-input.ts';

/** What a comparison of claims needs to know of a namespace. */
type ComparedIn = Pick<PlanInput, 'namespaceObject' | 'snapshot' | 'copyStateOf' | 'now'>;

/** Returns the fields in which the claims differ, in the words of the status. Empty if one object satisfies both. */
export function differingFields(a: Claim, b: Claim, input: ComparedIn): readonly string[] {
  const [one, other] = [wantedBy(a, b, input), wantedBy(b, a, input)];
  // Two sources with the same data now can differ later.
  if (!isDeepStrictEqual(one['source'], other['source'])) return ['source'];
  const fields = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...fields].filter((field) => !isDeepStrictEqual(one[field], other[field])).sort();
}

/** Copies are compared by what the shares say of them while one of them cannot be made. */
function wantedBy(claim: Claim, other: Claim, input: ComparedIn): JsonObject {
  const { content, expiresAt: expiry } = claim;
  const share = content.kind === 'copy' ? content.share : undefined;
  const payload = payloadOf(claim, input);
  if (share !== undefined && (payload === undefined || payloadOf(other, input) === undefined)) {
    const { isImmutable: immutable, ...form } = share.copy;
    return { ...form, immutable, source: share.source };
  }
  const { namespaceObject, snapshot, now } = input;
  const object = unnamed(desiredObject(claim, payload, nameOf(namespaceObject), snapshot, now));
  const { [ownerAnnotation]: _owner, [appliedAnnotation]: _hash, ...annotations } = annotationsOf(object);
  const { metadata: _metadata, ...fields } = object;
  return { ...fields, labels: labelsOf(object), annotations, expiry, source: share?.source };
}

function payloadOf({ content }: Claim, { copyStateOf }: ComparedIn): CopyPayload | undefined {
  const copy = content.kind === 'copy' ? copyStateOf(content.share) : undefined;
  return copy?.kind === 'ready' ? copy.payload : undefined;
}
