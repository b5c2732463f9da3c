// Reads the old or the new object of a request, and checks the fields that rules read.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AnyReview } from '../../policy/terms/review.ts';
import {
  invalidReview,
  decoded,
  notDecoded,
  firstProblem,
  objectListProblem,
  wrongType,
  type Decoding,
  type ReviewProblem,
  isAbsent,
  type ReviewTarget,
} from './decode-target.ts';
import type { KubeObject, ObjectMeta } from '../../base/metadata.ts';
import { isDateTime } from '../../base/time.ts';

const ruleLists = ['apiGroups', 'resources', 'verbs', 'resourceNames', 'nonResourceURLs'] as const;
const subjectTexts = ['kind', 'apiGroup', 'name', 'namespace'] as const;
const rbacGroups: readonly unknown[] = [undefined, null, '', 'rbac.authorization.k8s.io'];

function decodePayload(
  resource: AnyReview['resource'],
  object: JsonObject,
  path: string,
): Decoding<JsonObject> {
  switch (resource) {
    case 'secrets':
      return decodeSecret(object, path);
    case 'roles':
      return checked(object, ['rules'], rulesProblem(object['rules'], `${path}.rules`));
    case 'rolebindings':
      return checked(
        object,
        ['subjects'],
        roleRefProblem(object['roleRef'], `${path}.roleRef`) ??
          subjectsProblem(object['subjects'], `${path}.subjects`),
      );
    // The engine reports problems in the spec of a provider, all at once, to its author.
    default:
      return decoded(object);
  }
}

/** Returns the object without these members where they are null, because Go reads null as missing. */
function checked(
  object: JsonObject,
  members: readonly string[],
  problem: ReviewProblem | undefined,
): Decoding<JsonObject> {
  if (problem !== undefined) return notDecoded(problem);
  if (!members.some((member) => Object.hasOwn(object, member) && isAbsent(object[member])))
    return decoded(object);
  const kept = Object.entries(object).filter(([key, value]) => !isAbsent(value) || !members.includes(key));
  return decoded(Object.fromEntries(kept));
}

function decodeSecret(secret: JsonObject, path: string): Decoding<JsonObject> {
  const data = decodeValues(secret['data'], `${path}.data`);
  if (!data.ok) return data;
  const stringData = decodeValues(secret['stringData'], `${path}.stringData`);
  if (!stringData.ok) return stringData;
  const filled =
    data.value === secret['data'] && stringData.value === secret['stringData']
      ? secret
      : { ...secret, data: data.value, stringData: stringData.value };
  return checked(filled, ['type', 'data', 'stringData'], textProblem(secret['type'], `${path}.type`));
}

/** Replaces a null value by an empty one: Go reads null as no bytes, and writes no bytes as null. */
function decodeValues(values: unknown, path: string): Decoding<unknown> {
  if (isAbsent(values)) return decoded(values);
  if (!isJsonObject(values)) return notDecoded(wrongType(path, values, 'a map of texts'));
  const all = Object.values(values);
  if (!all.every((value) => value === null || typeof value === 'string')) {
    return notDecoded(invalidReview(path, 'must be a map whose values are all texts'));
  }
  if (!all.includes(null)) return decoded(values);
  // Object.fromEntries makes own members of all keys, `__proto__` too.
  return decoded(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? ''])));
}

function rulesProblem(rules: unknown, path: string): ReviewProblem | undefined {
  return objectListProblem(rules, path, (rule, at) =>
    firstProblem(ruleLists, (field) => textListProblem(rule[field], `${at}.${field}`)),
  );
}

function subjectsProblem(subjects: unknown, path: string): ReviewProblem | undefined {
  return objectListProblem(subjects, path, (subject, at) =>
    firstProblem(subjectTexts, (field) => textProblem(subject[field], `${at}.${field}`)),
  );
}

function roleRefProblem(roleRef: unknown, path: string): ReviewProblem | undefined {
  if (!isJsonObject(roleRef)) return wrongType(path, roleRef, 'an object');
  const { kind, name, apiGroup } = roleRef;
  if (kind !== 'Role' && kind !== 'ClusterRole')
    return invalidReview(`${path}.kind`, 'must be Role or ClusterRole');
  if (typeof name !== 'string' || name === '')
    return invalidReview(`${path}.name`, 'must be a text that is not empty');
  // The API server sets its group where none is given.
  if (!rbacGroups.includes(apiGroup))
    return invalidReview(`${path}.apiGroup`, 'must be rbac.authorization.k8s.io');
  return undefined;
}

export function decodeObject(value: unknown, target: ReviewTarget, path: string): Decoding<KubeObject> {
  if (!isJsonObject(value)) return notDecoded(wrongType(path, value, 'an object'));
  const problem = kindProblem(value, target, path);
  if (problem !== undefined) return notDecoded(problem);
  const metadata = decodeMetadata(value['metadata'], `${path}.metadata`);
  if (!metadata.ok) return metadata;
  const payload = decodePayload(target.resource, value, path);
  if (!payload.ok) return payload;
  return decoded({ ...payload.value, metadata: metadata.value });
}

/** A missing kind or version is accepted for people with curl, because the request states both. */
function kindProblem(object: JsonObject, { kind }: ReviewTarget, path: string): ReviewProblem | undefined {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  if (!isAbsent(object['kind']) && object['kind'] !== kind.kind) {
    return invalidReview(`${path}.kind`, 'must be the kind of the request');
  }
  if (!isAbsent(object['apiVersion']) && object['apiVersion'] !== apiVersion) {
    return invalidReview(`${path}.apiVersion`, 'must be the version of the request');
  }
  return undefined;
}

// Reads the metadata of an object, and checks that each field a rule reads has the type of Kubernetes.

const texts = ['name', 'generateName', 'namespace', 'uid', 'deletionTimestamp'] as const;
const maps = ['labels', 'annotations'] as const;
const lists = ['ownerReferences', 'finalizers'] as const;
const ownerReferenceTexts = ['apiVersion', 'kind', 'name', 'uid'] as const;

function decodeMetadata(value: unknown, path: string): Decoding<ObjectMeta> {
  if (!isJsonObject(value)) return notDecoded(wrongType(path, value, 'an object'));
  const problem =
    firstProblem(texts, (field) => textProblem(value[field], `${path}.${field}`)) ??
    firstProblem(maps, (field) => textMapProblem(value[field], `${path}.${field}`)) ??
    timeProblem(value['deletionTimestamp'], `${path}.deletionTimestamp`) ??
    ownersProblem(value['ownerReferences'], `${path}.ownerReferences`) ??
    finalizersProblem(value['finalizers'], `${path}.finalizers`);
  return problem === undefined ? decoded(withoutNulls(value)) : notDecoded(problem);
}

function textProblem(value: unknown, path: string): ReviewProblem | undefined {
  return isAbsent(value) || typeof value === 'string' ? undefined : wrongType(path, value, 'a text');
}

function textListProblem(value: unknown, path: string): ReviewProblem | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) return wrongType(path, value, 'a list of texts');
  return value.every((item) => typeof item === 'string')
    ? undefined
    : invalidReview(path, 'must contain only texts');
}

function textMapProblem(value: unknown, path: string): ReviewProblem | undefined {
  if (isAbsent(value)) return undefined;
  if (!isJsonObject(value)) return wrongType(path, value, 'a map of texts');
  return Object.values(value).every((item) => typeof item === 'string')
    ? undefined
    : invalidReview(path, 'must be a map whose values are all texts');
}

function timeProblem(value: unknown, path: string): ReviewProblem | undefined {
  return typeof value !== 'string' || isDateTime(value)
    ? undefined
    : invalidReview(path, 'must be a time of RFC 3339');
}

function ownersProblem(value: unknown, path: string): ReviewProblem | undefined {
  return objectListProblem(value, path, (owner, at) =>
    firstProblem(ownerReferenceTexts, (field) => textProblem(owner[field], `${at}.${field}`)),
  );
}

function finalizersProblem(value: unknown, path: string): ReviewProblem | undefined {
  return textListProblem(value, path);
}

/**
 * Removes fields that are null, because Go reads null as missing: a deletionTimestamp of null deletes nothing. The object
 * is copied only when it has such a field.
 */
function withoutNulls(metadata: JsonObject): ObjectMeta {
  const known: readonly string[] = [...texts, ...maps, ...lists];
  if (!known.some((field) => metadata[field] === null)) return metadata;
  return Object.fromEntries(
    Object.entries(metadata).filter(([field, value]) => value !== null || !known.includes(field)),
  );
}
