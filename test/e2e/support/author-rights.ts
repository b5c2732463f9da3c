// The rights that a share, and a policy with every feature, require of their author. Tests grant them one by one.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { configMap, policy, roleBinding, share, type WrittenObject } from './objects.ts';
import { grant, person } from './people.ts';
import type { KubectlOptions } from '../../support/kubectl.ts';

/** A right, the field that requires it, and the words for it in a refusal. */
export interface AuthorRight {
  readonly id: string;
  readonly rule: Readonly<Record<'apiGroups' | 'resources' | 'verbs', readonly string[]>> & {
    readonly resourceNames?: readonly string[];
  };
  readonly path: string;
  readonly missing: string;
}

const selectedLabel = 'au-tier';
const match = { names: ['au-nowhere'] };

/** Policies and shares under which the defaults of `everything` can bring a namespace. They match no existing namespace. */
export const others: readonly WrittenObject[] = [
  policy('au-other-label', {
    match: { namespaceSelector: { matchLabels: { [selectedLabel]: 'a' } }, ...match },
  }),
  policy('au-other-condition', { match: { ...match, matchConditions: [{ name: 'x', expression: 'true' }] } }),
  policy('au-other-template', {
    match,
    contents: { resources: [configMap('x', { of: '${namespaceObject.metadata.name}' })] },
  }),
  share('au-other-share', {
    source: { namespace: 'reeve-shared', name: 'au-other' },
    targets: {
      namespaceSelector: { matchExpressions: [{ key: selectedLabel, operator: 'DoesNotExist' }] },
      ...match,
    },
  }),
  // No default can change which namespaces these two match.
  policy('au-other-name', { match }),
  share('au-other-names', { source: { namespace: 'reeve-shared', name: 'au-other' }, targets: match }),
];

const spec = {
  match,
  existing: 'Repair',
  namespaces: { defaults: { labels: { [selectedLabel]: 'a' } } },
  contents: {
    roleBindings: [roleBinding('x', 'au-staff')],
    resources: [configMap('x', { a: 'b' })],
    serviceAccounts: [{ name: 'default', automountServiceAccountToken: false }],
  },
};

export const everything = policy('au-everything', spec);
export const sharing = share('au-sharing', {
  source: { namespace: 'reeve-shared', name: 'au-source' },
  targets: match,
});

const core = (id: string, resource: string, verb: string, path: string): AuthorRight => ({
  id,
  rule: { apiGroups: [''], resources: [resource], verbs: [verb] },
  path,
  missing: `verb "${verb}" on ${resource}, cluster-wide`,
});

const rbac = 'rbac.authorization.k8s.io';

const use = (resource: string, name: string, path: string): AuthorRight => ({
  id: `use-${name}`,
  rule: { apiGroups: ['reeve.dev'], resources: [resource], resourceNames: [name], verbs: ['use'] },
  path,
  missing: `verb "use" on ${resource}/${name}`,
});

const defaults = 'spec.namespaces.defaults';

export const rightsOfPolicy: readonly AuthorRight[] = [
  {
    id: 'bind',
    rule: {
      apiGroups: [rbac],
      resources: ['clusterroles'],
      resourceNames: ['view'],
      verbs: ['bind'],
    },
    path: 'spec.contents.roleBindings[0].roleRef',
    missing: `verb "bind" on clusterroles.${rbac}/view`,
  },
  ...['create', 'patch', 'delete'].map((verb) => ({
    id: `rolebindings-${verb}`,
    rule: { apiGroups: [rbac], resources: ['rolebindings'], verbs: [verb] },
    path: 'spec.contents.roleBindings',
    missing: `verb "${verb}" on rolebindings.${rbac}, cluster-wide`,
  })),
  ...['create', 'patch', 'delete'].map((verb) =>
    core(`configmaps-${verb}`, 'configmaps', verb, 'spec.contents.resources[0]'),
  ),
  core('serviceaccounts', 'serviceaccounts', 'patch', 'spec.contents.serviceAccounts'),
  core('namespaces', 'namespaces', 'patch', 'spec.existing'),
  use('namespacepolicies', 'au-other-label', `${defaults}.labels.${selectedLabel}`),
  use('namespacepolicies', 'au-other-condition', defaults),
  use('namespacepolicies', 'au-other-template', defaults),
  use('secretshares', 'au-other-share', `${defaults}.labels.${selectedLabel}`),
];

export const rightsOfShare: readonly AuthorRight[] = [
  {
    id: 'source',
    rule: { apiGroups: [''], resources: ['secrets'], resourceNames: ['au-source'], verbs: ['get'] },
    path: 'spec.source',
    missing: 'verb "get" on secrets/au-source in namespace reeve-shared',
  },
  ...['create', 'patch', 'delete'].map((verb) => core(`secrets-${verb}`, 'secrets', verb, 'spec.targets')),
];

const rights = [...rightsOfPolicy, ...rightsOfShare];

/** Returns a user who has all of the rights except that one. */
export function without(cluster: ClusterAccess, { id }: AuthorRight): KubectlOptions {
  return person(cluster, `au-without-${id}`);
}

/** Grants users the right to write policies and shares. Reeve may still require more rights. */
export async function grantWriting(cluster: ClusterAccess, ...users: readonly string[]): Promise<void> {
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  const ours = { apiGroups: ['reeve.dev'], resources: ['namespacepolicies', 'secretshares'], verbs };
  const lacking = rights.map(({ id }) => `au-without-${id}`);
  await grant(cluster, { name: 'au-writers', rules: [ours], users: [...users, ...lacking] });
}

export async function grantRights(
  cluster: ClusterAccess,
  to: { readonly users: readonly string[]; readonly groups: readonly string[] },
): Promise<void> {
  const people = rights.map(({ id }) => ({ id, user: `au-without-${id}` }));
  for (const { id, rule } of rights) {
    const users = people.filter((each) => each.id !== id).map(({ user }) => user);
    await grant(cluster, {
      name: `au-${id}`,
      rules: [rule],
      users: [...to.users, ...users],
      groups: to.groups,
    });
  }
}
