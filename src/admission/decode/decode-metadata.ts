// Reads the metadata of an object: every field that a rule looks at has the type that the API server gives it.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isDateTime } from '../../base/time.ts';
import type { ObjectMeta } from '../../base/kube-object.ts';
import { badRequest, decoded, faulty, firstFault, wrongType } from './fault.ts';
import type { Decoding, Fault } from './fault.ts';
import { isAbsent } from './json-value.ts';

const texts = ['name', 'generateName', 'namespace', 'uid', 'deletionTimestamp'] as const;
const maps = ['labels', 'annotations'] as const;
const lists = ['ownerReferences', 'finalizers'] as const;
const providerTexts = ['apiVersion', 'kind', 'name', 'uid'] as const;

export function decodeMetadata(value: unknown, path: string): Decoding<ObjectMeta> {
  if (!isJsonObject(value)) return faulty(wrongType(path, value, 'an object'));
  const fault =
    firstFault(texts, (field) => textFault(value[field], `${path}.${field}`)) ??
    firstFault(maps, (field) => textMapFault(value[field], `${path}.${field}`)) ??
    timeFault(value['deletionTimestamp'], `${path}.deletionTimestamp`) ??
    ownersFault(value['ownerReferences'], `${path}.ownerReferences`) ??
    finalizersFault(value['finalizers'], `${path}.finalizers`);
  return fault === undefined ? decoded(withoutNulls(value)) : faulty(fault);
}

export function textFault(value: unknown, path: string): Fault | undefined {
  return isAbsent(value) || typeof value === 'string' ? undefined : wrongType(path, value, 'a text');
}

export function textListFault(value: unknown, path: string): Fault | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) return wrongType(path, value, 'a list of texts');
  return value.every((item) => typeof item === 'string')
    ? undefined
    : badRequest(path, 'accepted: texts only');
}

function textMapFault(value: unknown, path: string): Fault | undefined {
  if (isAbsent(value)) return undefined;
  if (!isJsonObject(value)) return wrongType(path, value, 'a map of texts');
  return Object.values(value).every((item) => typeof item === 'string')
    ? undefined
    : badRequest(path, 'accepted: a map whose values are all texts');
}

function timeFault(value: unknown, path: string): Fault | undefined {
  return typeof value !== 'string' || isDateTime(value)
    ? undefined
    : badRequest(path, 'accepted: a time of RFC 3339');
}

function ownersFault(value: unknown, path: string): Fault | undefined {
  if (isAbsent(value)) return undefined;
  if (!Array.isArray(value)) return wrongType(path, value, 'a list of objects');
  return firstFault(value, (owner: unknown, index) =>
    isJsonObject(owner)
      ? firstFault(providerTexts, (field) => textFault(owner[field], `${path}[${index}].${field}`))
      : wrongType(`${path}[${index}]`, owner, 'an object'),
  );
}

function finalizersFault(value: unknown, path: string): Fault | undefined {
  return textListFault(value, path);
}

/**
 * Fields that are null go, because Go reads null as absent: a deletionTimestamp of null does not delete anything, and
 * labels of null are none. The object is copied only when it has such a field.
 */
function withoutNulls(metadata: JsonObject): ObjectMeta {
  const known: readonly string[] = [...texts, ...maps, ...lists];
  if (!known.some((field) => metadata[field] === null)) return metadata;
  return Object.fromEntries(
    Object.entries(metadata).filter(([field, value]) => value !== null || !known.includes(field)),
  );
}
