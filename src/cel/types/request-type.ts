// The types of `request` and its parts: a misspelled field of them is found when a policy is loaded.
// https://pkg.go.dev/k8s.io/apiserver/pkg/admission/plugin/cel#BuildRequestType
import { objectOf } from './object-type.ts';
import { BOOL, DYN, listOf, mapOf, STRING } from './type.ts';

const kind = objectOf('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const resource = objectOf('kubernetes.GroupVersionResource', {
  group: STRING,
  version: STRING,
  resource: STRING,
});
const userInfo = objectOf('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});

export const REQUEST = objectOf('kubernetes.AdmissionRequest', {
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
