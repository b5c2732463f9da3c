// Reads what a Secret, Role or RoleBinding holds beside its metadata, as far as rules look at it.
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AnyReview } from '../../policy/terms/review.ts';
import { textFault, textListFault } from './decode-metadata.ts';
import { badRequest, decoded, faulty, firstFault, wrongType } from './fault.ts';
import type { Decoding, Fault } from './fault.ts';
import { isAbsent } from './json-value.ts';

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
      return checked(object, ['rules'], rulesFault(object['rules'], `${path}.rules`));
    case 'rolebindings':
      return checked(
        object,
        ['subjects'],
        roleRefFault(object['roleRef'], `${path}.roleRef`) ??
          subjectsFault(object['subjects'], `${path}.subjects`),
      );
    default:
      return resource satisfies never;
  }
}

/** Without those of its members that are null, which Go reads as absent. */
function checked(
  object: JsonObject,
  members: readonly string[],
  fault: Fault | undefined,
): Decoding<JsonObject> {
  if (fault !== undefined) return faulty(fault);
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
  return checked(filled, ['type', 'data', 'stringData'], textFault(secret['type'], `${path}.type`));
}

/** A value of null becomes an empty one: Go reads it as no bytes, and writes no bytes as null. */
function decodeValues(values: unknown, path: string): Decoding<unknown> {
  if (isAbsent(values)) return decoded(values);
  if (!isJsonObject(values)) return faulty(wrongType(path, values, 'a map of texts'));
  const all = Object.values(values);
  if (!all.every((value) => value === null || typeof value === 'string')) {
    return faulty(badRequest(path, 'accepted: a map whose values are all texts'));
  }
  if (!all.includes(null)) return decoded(values);
  // Object.fromEntries makes own members of all keys, `__proto__` too.
  return decoded(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? ''])));
}

function rulesFault(rules: unknown, path: string): Fault | undefined {
  if (isAbsent(rules)) return undefined;
  if (!Array.isArray(rules)) return wrongType(path, rules, 'a list of objects');
  return firstFault(rules, (rule: unknown, index) =>
    isJsonObject(rule)
      ? firstFault(ruleLists, (field) => textListFault(rule[field], `${path}[${index}].${field}`))
      : wrongType(`${path}[${index}]`, rule, 'an object'),
  );
}

function subjectsFault(subjects: unknown, path: string): Fault | undefined {
  if (isAbsent(subjects)) return undefined;
  if (!Array.isArray(subjects)) return wrongType(path, subjects, 'a list of objects');
  return firstFault(subjects, (subject: unknown, index) =>
    isJsonObject(subject)
      ? firstFault(subjectTexts, (field) => textFault(subject[field], `${path}[${index}].${field}`))
      : wrongType(`${path}[${index}]`, subject, 'an object'),
  );
}

function roleRefFault(roleRef: unknown, path: string): Fault | undefined {
  if (!isJsonObject(roleRef)) return wrongType(path, roleRef, 'an object');
  const { kind, name, apiGroup } = roleRef;
  if (kind !== 'Role' && kind !== 'ClusterRole')
    return badRequest(`${path}.kind`, 'accepted: Role, ClusterRole');
  if (typeof name !== 'string' || name === '')
    return badRequest(`${path}.name`, 'accepted: a text that is not empty');
  // The API server fills in its group where none is given.
  if (!rbacGroups.includes(apiGroup))
    return badRequest(`${path}.apiGroup`, 'accepted: rbac.authorization.k8s.io');
  return undefined;
}
