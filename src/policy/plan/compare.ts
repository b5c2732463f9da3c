// Whether a live object is what it should be, and if not, what would make it so.
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { labelsOf, annotationsOf, valueOf } from '../../base/metadata.ts';
import { appliedAnnotation } from '../../api/names.ts';
import type { CopyPayload } from './copy.ts';
import type { Observed } from './observed.ts';

/**
 * `maybe`: it differs in what the API server may have put into another form, which only a dry run can tell.
 * `replace`: in what cannot be changed; it has to be made anew.
 */
export type NeededWrite = 'none' | 'update' | 'maybe' | 'replace';

export function compareCopy(wanted: KubeObject, payload: CopyPayload, live: Observed): NeededWrite {
  if (live.content.kind !== 'secret') return 'update';
  const { facts, labels } = live.content;
  const isSame = facts.hash === payload.facts.hash;
  if (isSame) return hasMetadata({ metadata: labels }, wanted) ? 'none' : 'update';
  // https://kubernetes.io/docs/concepts/configuration/secret/#secret-immutable; the type of a Secret never changes.
  return facts.type !== payload.facts.type || facts.isImmutable ? 'replace' : 'update';
}

export function compareRoleBinding(wanted: KubeObject, live: KubeObject): NeededWrite {
  // https://kubernetes.io/docs/reference/access-authn-authz/rbac/#clusterrolebinding-example: a roleRef is for ever.
  if (!isDeepStrictEqual(live['roleRef'], wanted['roleRef'])) return 'replace';
  const isSame = isDeepStrictEqual(live['subjects'] ?? [], wanted['subjects'] ?? []);
  return isSame && hasMetadata(live, wanted) ? 'none' : 'update';
}

export function compareResource(wanted: KubeObject, live: KubeObject): NeededWrite {
  const applied = valueOf(annotationsOf(live), appliedAnnotation);
  if (applied !== valueOf(annotationsOf(wanted), appliedAnnotation)) return 'update';
  return isPartOf(wanted, live) ? 'none' : 'maybe';
}

function hasMetadata(live: KubeObject, wanted: KubeObject): boolean {
  return isPartOf(labelsOf(wanted), labelsOf(live)) && isPartOf(annotationsOf(wanted), annotationsOf(live));
}

const ofEveryObject = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** What a live object has beyond what is wanted, as a merge patch that takes it away; the API server fills in its defaults again. */
export function foreignFields(wanted: KubeObject, live: KubeObject): JsonObject {
  const own = Object.entries(live).filter(([field]) => !ofEveryObject.has(field));
  return withoutForeign(wanted, Object.fromEntries(own));
}

function withoutForeign(wanted: JsonObject, live: JsonObject): JsonObject {
  const changes = Object.entries(live).flatMap(([field, value]): readonly (readonly [string, unknown])[] => {
    if (!Object.hasOwn(wanted, field)) return [[field, null]];
    const wish = wanted[field];
    if (Array.isArray(wish)) return isPartOf(wish, value) ? [] : [[field, wish]];
    if (!isJsonObject(wish) || !isJsonObject(value)) return [];
    const inner = withoutForeign(wish, value);
    return Object.keys(inner).length === 0 ? [] : [[field, inner]];
  });
  return Object.fromEntries(changes);
}

/** Everything that is said in the first value stands in the second one too. */
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
