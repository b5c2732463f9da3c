// Policies of Reeve and of Kyverno that do the same: labels that a namespace must have, and a RoleBinding in each.

export const hookedPrefix = 'hook-';
export const boundPrefix = 'bound-';
export const bindingName = 'bench';

const rbacGroup = 'rbac.authorization.k8s.io';
const roleRef = { kind: 'ClusterRole', name: 'view' };
const subject = { kind: 'Group', name: 'team' };

export const reevePolicies = '/apis/reeve.dev/v1alpha1/namespacepolicies';

export const reeveRules = {
  apiVersion: 'reeve.dev/v1alpha1',
  kind: 'NamespacePolicy',
  metadata: { name: 'bench-rules' },
  spec: {
    match: { names: [`${hookedPrefix}*`] },
    namespaces: { required: { labels: { team: {}, env: { values: ['dev', 'prod'] } } } },
  },
};

export const reeveBindings = {
  apiVersion: 'reeve.dev/v1alpha1',
  kind: 'NamespacePolicy',
  metadata: { name: 'bench-bindings' },
  spec: {
    match: { names: [`${boundPrefix}*`] },
    contents: { roleBindings: [{ name: bindingName, roleRef, subjects: [subject] }] },
  },
};

export const kyvernoPolicies = '/apis/kyverno.io/v1/clusterpolicies';

function policyOf(name: string, rule: object): object {
  const spec = { background: false, rules: [rule] };
  return { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy', metadata: { name }, spec };
}

function namespaces(prefix: string): object {
  return { any: [{ resources: { kinds: ['Namespace'], names: [`${prefix}*`] } }] };
}

export const kyvernoRules = policyOf('bench-rules', {
  name: 'labels',
  match: namespaces(hookedPrefix),
  validate: {
    failureAction: 'Enforce',
    message: 'labels are missing',
    pattern: { metadata: { labels: { team: '?*', env: 'dev | prod' } } },
  },
});

export const kyvernoBindings = policyOf('bench-bindings', {
  name: 'bind',
  match: namespaces(boundPrefix),
  generate: {
    synchronize: true,
    apiVersion: `${rbacGroup}/v1`,
    kind: 'RoleBinding',
    name: bindingName,
    namespace: '{{request.object.metadata.name}}',
    data: {
      roleRef: { apiGroup: rbacGroup, ...roleRef },
      subjects: [{ apiGroup: rbacGroup, ...subject }],
    },
  },
});
