// Reads the metadata of an object, and checks that each field a rule reads has the type of Kubernetes.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isDateTime } from '../../base/time.ts';
import type { ObjectMeta } from '../../base/kube-object.ts';
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
} from './review-problem.ts';

const texts = ['name', 'generateName', 'namespace', 'uid', 'deletionTimestamp'] as const;
const maps = ['labels', 'annotations'] as const;
const lists = ['ownerReferences', 'finalizers'] as const;
const ownerReferenceTexts = ['apiVersion', 'kind', 'name', 'uid'] as const;

export function decodeMetadata(value: unknown, path: string): Decoding<ObjectMeta> {
  if (!isJsonObject(value)) return notDecoded(wrongType(path, value, 'an object'));
  const problem =
    firstProblem(texts, (field) => textProblem(value[field], `${path}.${field}`)) ??
    firstProblem(maps, (field) => textMapProblem(value[field], `${path}.${field}`)) ??
    timeProblem(value['deletionTimestamp'], `${path}.deletionTimestamp`) ??
    ownersProblem(value['ownerReferences'], `${path}.ownerReferences`) ??
    finalizersProblem(value['finalizers'], `${path}.finalizers`);
  return problem === undefined ? decoded(withoutNulls(value)) : notDecoded(problem);
}

export function textProblem(value: unknown, path: string): ReviewProblem | undefined {
  return isAbsent(value) || typeof value === 'string' ? undefined : wrongType(path, value, 'a text');
}

export function textListProblem(value: unknown, path: string): ReviewProblem | undefined {
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
