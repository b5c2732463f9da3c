// Defines the types of objects with fixed fields, and that of `request`. At run time such objects are maps.
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/cel#BuildRequestType
import { isMap } from '../values/map.ts';
import { type ObjectKind, type Type, BOOL, DYN, listType, mapType, STRING } from './type.ts';

export function objectType(kind: ObjectKind, fields: Readonly<Record<string, Type>>): Type {
  return { kind, params: [], fields, accepts: isMap };
}

/** Returns undefined when the type has no such field, or no fields at all. */
export function typeOfObjectField({ fields }: Type, field: string): Type | undefined {
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
}

const kind = objectType('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const resource = objectType('kubernetes.GroupVersionResource', {
  group: STRING,
  version: STRING,
  resource: STRING,
});
const userInfo = objectType('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listType(STRING),
  extra: mapType(STRING, listType(STRING)),
});

export const REQUEST = objectType('kubernetes.AdmissionRequest', {
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
});
