// Short ways to what policies and shares provide, for tests of the reconciler.

/** Of namespaces that are labeled tier=team. */
export const teams = { namespaceSelector: { matchLabels: { tier: 'team' } } };
export const team = { tier: 'team' };

export function bindingOf(fields: object = {}): object {
  return {
    name: 'devs',
    roleRef: { kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'Group', name: 'devs' }],
    ...fields,
  };
}

export function quotaOf(spec: object = { hard: { pods: '5' } }, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'team', ...metadata }, spec };
}

/** A policy that gives every team a RoleBinding. */
export function bindingPolicy(fields: object = {}, binding: object = {}): object {
  return { match: teams, contents: { roleBindings: [bindingOf(binding)] }, ...fields };
}

export function quotaPolicy(spec?: object, fields: object = {}): object {
  return { match: teams, contents: { resources: [quotaOf(spec)] }, ...fields };
}

/** A share of reeve-shared/regcred for every team. */
export function shareOf(fields: object = {}): object {
  return { source: { namespace: 'reeve-shared', name: 'regcred' }, targets: teams, ...fields };
}
