// The types of `request` and its parts: a misspelled field of them is found when a policy is loaded.
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/cel#BuildRequestType
import { objectType } from './object-type.ts';
import { BOOL, DYN, listType, mapType, STRING } from './type.ts';

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
