// Lists the ids of all rules, each the path of its field in the spec. Exceptions and messages name a rule by its id.

export const ruleIds = [
  'namespaces.name',
  'namespaces.required',
  'namespaces.defaults',
  'namespaces.immutable',
  'namespaces.requesters',
  'namespaces.quota',
  'namespaces.deletion',
  'secrets.forbiddenTypes',
  'secrets.allowedTypes',
  'secrets.maxBytes',
  'secrets.tls',
  'secrets.dockerConfig',
  'secrets.defaults',
  'rbac.allowedRoleRefs',
  'rbac.forbiddenSubjects',
  'rbac.forbidWildcardRules',
  'contents',
] as const;

/** `validations/short` is the validation named short. */
export type RuleId = (typeof ruleIds)[number] | `validations/${string}`;
