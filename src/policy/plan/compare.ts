// Compares a live object with the desired object, and says which write would bring it in sync.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { type KubeObject, labelsOf, annotationsOf, valueOf } from '../../base/metadata.ts';
import { appliedAnnotation, expiresAtAnnotation } from '../../schema/names.ts';
import type { CopyPayload } from './copy.ts';
import type { Observed } from './observed.ts';

/**
 * `check`: the objects differ, but the API server may only have stored a value in another form. A dry run shows it.
 * `replace`: an immutable field differs, so the object must be deleted and created again.
 */
export type NeededWrite = 'none' | 'update' | 'check' | 'replace';

export function compareCopy(wanted: KubeObject, payload: CopyPayload, live: Observed): NeededWrite {
  if (live.content.kind !== 'secret') return 'update';
  const { facts, labels } = live.content;
  const isSame = facts.hash === payload.facts.hash;
  if (isSame) return hasMetadata({ metadata: labels }, wanted) ? 'none' : 'update';
  // https://kubernetes.io/docs/concepts/configuration/secret/#secret-immutable; The type of a Secret is immutable.
  return facts.type !== payload.facts.type || facts.isImmutable ? 'replace' : 'update';
}

export function compareRoleBinding(wanted: KubeObject, live: KubeObject): NeededWrite {
  // https://kubernetes.io/docs/reference/access-authn-authz/rbac/#clusterrolebinding-example: A roleRef is immutable.
  if (!isDeepStrictEqual(live['roleRef'], wanted['roleRef'])) return 'replace';
  const isSame = isDeepStrictEqual(live['subjects'] ?? [], wanted['subjects'] ?? []);
  return isSame && hasMetadata(live, wanted) && !hasOldExpiry(wanted, live) ? 'none' : 'update';
}

/** Returns true if the annotation with the expiry must be removed. */
export function hasOldExpiry(wanted: KubeObject, live: KubeObject): boolean {
  const [isWanted, isThere] = [wanted, live].map((each) =>
    Object.hasOwn(annotationsOf(each), expiresAtAnnotation),
  );
  return isThere === true && isWanted === false;
}

export function compareResource(wanted: KubeObject, live: KubeObject): NeededWrite {
  const applied = valueOf(annotationsOf(live), appliedAnnotation);
  if (applied !== valueOf(annotationsOf(wanted), appliedAnnotation)) return 'update';
  return isPartOf(wanted, live) ? 'none' : 'check';
}

function hasMetadata(live: KubeObject, wanted: KubeObject): boolean {
  return isPartOf(labelsOf(wanted), labelsOf(live)) && isPartOf(annotationsOf(wanted), annotationsOf(live));
}

/** Fields that every object has. They are not compared as content. */
const commonFields = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Returns the merge patch that removes fields that are not wanted. The API server then sets its defaults again. */
export function foreignFields(wanted: KubeObject, live: KubeObject): JsonObject {
  const own = Object.entries(live).filter(([field]) => !commonFields.has(field));
  return withoutForeign(wanted, Object.fromEntries(own));
}

function withoutForeign(wanted: JsonObject, live: JsonObject): JsonObject {
  const changes = Object.entries(live).flatMap(([field, value]): readonly (readonly [string, unknown])[] => {
    if (!Object.hasOwn(wanted, field)) return [[field, null]];
    const wantedValue = wanted[field];
    if (Array.isArray(wantedValue)) return isPartOf(wantedValue, value) ? [] : [[field, wantedValue]];
    if (!isJsonObject(wantedValue) || !isJsonObject(value)) return [];
    const inner = withoutForeign(wantedValue, value);
    return Object.keys(inner).length === 0 ? [] : [[field, inner]];
  });
  return Object.fromEntries(changes);
}

/** Returns true if `live` holds everything that `wanted` holds. */
function isPartOf(wanted: unknown, live: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, index) => isPartOf(item, live[index]))
    );
  }
  if (isJsonObject(wanted)) {
    return Object.entries(wanted).every(
      ([key, value]) => value === null || isPartOf(value, ownMember(live, key)),
    );
  }
  return isDeepStrictEqual(wanted, live);
}
