// The types of `request` and its parts: a misspelled field of them is found when a policy is loaded.
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/cel#BuildRequestType
import { isMap } from '../values/map.ts';
import { BOOL, DYN, listOf, mapOf, STRING, type ObjectKind, type Type } from './type.ts';

type Fields = Readonly<Record<string, Type>>;

const kind = objectOf('kubernetes.GroupVersionKind');
const resource = objectOf('kubernetes.GroupVersionResource');
const userInfo = objectOf('kubernetes.UserInfo');

export const REQUEST = objectOf('kubernetes.AdmissionRequest');

const FIELDS: Readonly<Record<ObjectKind, Fields>> = {
  'kubernetes.GroupVersionKind': { group: STRING, version: STRING, kind: STRING },
  'kubernetes.GroupVersionResource': { group: STRING, version: STRING, resource: STRING },
  'kubernetes.UserInfo': {
    username: STRING,
    uid: STRING,
    groups: listOf(STRING),
    extra: mapOf(STRING, listOf(STRING)),
  },
  'kubernetes.AdmissionRequest': {
    kind,
    resource,
    subResource: STRING,
    requestKind: kind,
    requestResource: resource,
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo,
    dryRun: BOOL,
    options: DYN,
  },
};

/** undefined when values of the type have no such field, or no fields at all. */
export function typeOfObjectField(type: Type, field: string): Type | undefined {
  const fields = new Map(Object.entries<Fields>(FIELDS)).get(type.kind);
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
}

function objectOf(name: ObjectKind): Type {
  return { kind: name, params: [], accepts: isMap };
}
