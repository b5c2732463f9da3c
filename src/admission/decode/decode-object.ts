// Reads what a Secret, Role or RoleBinding holds beside its metadata, as far as rules look at it.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AnyReview } from '../../policy/terms/review.ts';
import { textProblem, textListProblem, decodeMetadata } from './decode-metadata.ts';
import {
  invalidReview,
  decoded,
  notDecoded,
  firstProblem,
  wrongType,
  type Decoding,
  type ReviewProblem,
  isAbsent,
} from './review-problem.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import type { ReviewTarget } from './decode-target.ts';

const ruleLists = ['apiGroups', 'resources', 'verbs', 'resourceNames', 'nonResourceURLs'] as const;
const subjectTexts = ['kind', 'apiGroup', 'name', 'namespace'] as const;
const rbacGroups: readonly unknown[] = [undefined, null, '', 'rbac.authorization.k8s.io'];

export function decodePayload(
  resource: AnyReview['resource'],
  object: JsonObject,
  path: string,
): Decoding<JsonObject> {
  switch (resource) {
    case 'namespaces':
    // What is wrong with the spec of an object of ours is for its author to read, all at once: the engine says it.
    case 'namespacepolicies':
    case 'secretshares':
      return decoded(object);
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
    default:
      return resource satisfies never;
  }
}

/** Without those of its members that are null, which Go reads as absent. */
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

/** A value of null becomes an empty one: Go reads it as no bytes, and writes no bytes as null. */
function decodeValues(values: unknown, path: string): Decoding<unknown> {
  if (isAbsent(values)) return decoded(values);
  if (!isJsonObject(values)) return notDecoded(wrongType(path, values, 'a map of texts'));
  const all = Object.values(values);
  if (!all.every((value) => value === null || typeof value === 'string')) {
    return notDecoded(invalidReview(path, 'accepted: a map whose values are all texts'));
  }
  if (!all.includes(null)) return decoded(values);
  // Object.fromEntries makes own members of all keys, `__proto__` too.
  return decoded(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? ''])));
}

function rulesProblem(rules: unknown, path: string): ReviewProblem | undefined {
  if (isAbsent(rules)) return undefined;
  if (!Array.isArray(rules)) return wrongType(path, rules, 'a list of objects');
  return firstProblem(rules, (rule: unknown, index) =>
    isJsonObject(rule)
      ? firstProblem(ruleLists, (field) => textListProblem(rule[field], `${path}[${index}].${field}`))
      : wrongType(`${path}[${index}]`, rule, 'an object'),
  );
}

function subjectsProblem(subjects: unknown, path: string): ReviewProblem | undefined {
  if (isAbsent(subjects)) return undefined;
  if (!Array.isArray(subjects)) return wrongType(path, subjects, 'a list of objects');
  return firstProblem(subjects, (subject: unknown, index) =>
    isJsonObject(subject)
      ? firstProblem(subjectTexts, (field) => textProblem(subject[field], `${path}[${index}].${field}`))
      : wrongType(`${path}[${index}]`, subject, 'an object'),
  );
}

function roleRefProblem(roleRef: unknown, path: string): ReviewProblem | undefined {
  if (!isJsonObject(roleRef)) return wrongType(path, roleRef, 'an object');
  const { kind, name, apiGroup } = roleRef;
  if (kind !== 'Role' && kind !== 'ClusterRole')
    return invalidReview(`${path}.kind`, 'accepted: Role, ClusterRole');
  if (typeof name !== 'string' || name === '')
    return invalidReview(`${path}.name`, 'accepted: a text that is not empty');
  // The API server fills in its group where none is given.
  if (!rbacGroups.includes(apiGroup))
    return invalidReview(`${path}.apiGroup`, 'accepted: rbac.authorization.k8s.io');
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

/** The API server always says them, people with curl do not: the request has said what the object is. */
function kindProblem(object: JsonObject, { kind }: ReviewTarget, path: string): ReviewProblem | undefined {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  if (!isAbsent(object['kind']) && object['kind'] !== kind.kind) {
    return invalidReview(`${path}.kind`, 'it is not the kind of the request');
  }
  if (!isAbsent(object['apiVersion']) && object['apiVersion'] !== apiVersion) {
    return invalidReview(`${path}.apiVersion`, 'it is not the version of the request');
  }
  return undefined;
}
