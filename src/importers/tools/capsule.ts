// Imports Tenants of Capsule. Its resources for tenants are read in capsule-resources.ts.
// https://github.com/projectcapsule/capsule/blob/main/api/v1beta2/tenant_types.go
import type { StringMap } from '../../base/metadata.ts';
import { boundSubjects, incomplete, roleBindings, type Binding, type BoundSubject } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import { lostOf, type ToolObject, filled, type Reader } from '../reader.ts';
import { providePolicies } from '../provide.ts';
import { selectedBy, selectedIn, type NamespaceReach } from '../reach.ts';
import {
  forbiddenKeys,
  metadataRules,
  selectedMetadata,
  type SelectedMetadata,
  capsuleUsers,
  limitToTenants,
  ownersRule,
  type CapsuleUsers,
} from './capsule-rules.ts';
import {
  capsuleGroup,
  metadataIn,
  readTenantResources,
  tenantLabel,
  tenantTemplates,
} from './capsule-resources.ts';

export const capsule: Importer = {
  groups: [capsuleGroup],
  reads: { v1: ['Secret', 'ConfigMap'] },
  // Keys that only describe, or in which Capsule notes its work, are left out. Resources also select by labels of Tenants.
  ownKeys: /^(?!used\.|reconcile\.|audit\.|info\.).*(?:capsule\.clastix\.io|projectcapsule\.dev)\//u,
  fields: {
    // Reeve checks each change at once.
    GlobalTenantResource: [['spec resyncPeriod']],
    TenantResource: [['spec resyncPeriod']],
    CapsuleConfiguration: [
      // Settings of Capsule itself, which end with Capsule.
      ...[
        'admission',
        'allowServiceAccountPromotion',
        'cacheInvalidation',
        'enableTLSReconciler',
        'events',
        'impersonation',
        'overrides',
        'rbac',
      ].map((key) => [`spec ${key}`] as const),
      ['spec protectedNamespaceRegex', 'names that no namespace may have', 'set namespaces.name in a policy'],
    ],
    TenantOwner: [
      ['', 'Reeve has owners in the policy of a tenant', 'add them there as requesters and subjects'],
    ],
  },
  danger:
    'never delete a Tenant without --cascade=orphan: it owns its Namespaces, which would be deleted with all their contents',
  stop: 'kubectl scale deployment capsule-controller-manager -n capsule-system --replicas=0, and delete its webhook configurations',
  end: 'uninstall Capsule, and keep the CRD of Tenants until all of them are deleted with --cascade=orphan',
  read(run) {
    const tenants = run.ofKind('Tenant');
    const users = capsuleUsers(run, tenants.flatMap(ownersOf));
    const moved = tenants.filter((tenant) => readTenant(run, tenant, users));
    limitToTenants(
      run,
      moved.filter((tenant) => ownersOf(tenant).length > 0),
      users,
    );
    readTenantResources(run, tenants);
    if (tenants.length > 0)
      run.notes.add(
        `Capsule sets label ${tenantLabel} on the namespaces that owners create. With Reeve, who creates a namespace writes the label.`,
      );
  },
};

/** Fields with the defaults of the CRD, and fields without an effect in Capsule. */
const filledIn: readonly (readonly [path: string, value: unknown])[] = [
  ['cordoned', false],
  ['preventDeletion', false],
  ['namespaceOptions managedMetadataOnly', false],
  ['ingressOptions hostnameCollisionScope', 'Disabled'],
  ['permissions allowOwnerPromotion', true],
  ['serviceOptions allowedServices externalName', true],
  ['serviceOptions allowedServices loadBalancer', true],
  ['serviceOptions allowedServices nodePort', true],
];

/** Without the label, a namespace would leave its tenant. Capsule, too, keeps owners from changing the label. */
const keptInTenant = { immutable: { labels: [tenantLabel] } };

/** Returns false for a Tenant that has to stay, because a policy of it would not load. */
function readTenant(run: ImportRun, tenant: ToolObject, users: CapsuleUsers): boolean {
  const { name, reader: from } = tenant;
  const spec = from.at('spec');
  const options = spec.at('namespaceOptions');
  for (const [path, value] of filledIn) spec.at(...path.split(' ')).skipIf(value);
  const reach = selectedBy([{ key: tenantLabel, operator: 'In', values: [name] }]);
  const [names, lost]: [string[], string[]] = [[], []];
  const provide = (policy: string, reaches: readonly NamespaceReach[], given: object): void => {
    // A Tenant may have its owners and bindings elsewhere.
    if (Object.keys(given).length === 0) return;
    const actions = 'namespaces' in given || 'validations' in given ? { validationActions: ['Audit'] } : {};
    const provided = providePolicies(run, { from, name: policy, reaches, spec: { ...actions, ...given } });
    if (provided.length === 0) lost.push(policy);
    names.push(...provided);
  };
  const bindings = [...ownerBindings(tenant), ...additionalBindings(name, spec.at('additionalRoleBindings'))];
  const first = metadataIn(options.at('additionalMetadata'));
  const { validations: values, ...keys } = metadataRules(
    name,
    { ...first, annotations: { ...first.annotations, ...nodeSelector(spec) } },
    metadataIn(options.at('requiredMetadata')),
  );
  const owners = ownersOf(tenant);
  const requesters = requestersOf(owners);
  const namespaces = filled({ requesters, ...namespaceRules(name, spec, users), ...keys });
  const rules = [
    ...(owners.length === 0 ? [] : ownersRule(tenant, owners, users)),
    ...forbiddenKeys(options, first),
    ...values,
  ];
  const contents = filled({ roleBindings: roleBindings(bindings), resources: resourcesOf(tenant) });
  const hasRules = Object.keys(namespaces).length + rules.length > 0;
  const kept = hasRules ? { ...namespaces, ...keptInTenant } : {};
  provide(name, [reach], filled({ namespaces: kept, validations: rules, contents }));
  for (const [index, item] of spec.at('rules').items().entries()) {
    // No RoleBinding of the tenant has such a name.
    const prefix = `${name}-rule-${index + 1}`;
    const bound = roleBindings(additionalBindings(prefix, item.at('permissions', 'bindings')));
    const selected = selectedIn(reach, item.at('namespaceSelector'));
    if (selected !== undefined)
      provide(prefix, [selected], filled({ contents: filled({ roleBindings: bound }) }));
  }
  for (const item of selectedMetadata(itemsIn(reach, options.at('additionalMetadataList')), first)) {
    const { validations, ...rest } = metadataRules(name, item.metadata);
    provide(`${name}-metadata`, [item.reach], filled({ namespaces: rest, validations }));
  }
  endTenant(run, tenant, names, lost);
  return lost.length === 0;
}

/** Deletes the Tenant, unless one of its policies is lost. */
function endTenant(
  run: ImportRun,
  tenant: ToolObject,
  names: readonly string[],
  lost: readonly string[],
): void {
  if (lost.length === 0) {
    run.deleteAlone(tenant);
    replaceBindings(run, tenant, names);
    return;
  }
  const why = `NamespacePolicy ${lost.join(', ')} would not load. Mend that, and import it again`;
  run.before.add(`keep Tenant ${tenant.name} and the RoleBindings of Capsule in its namespaces: ${why}`);
}

function itemsIn(reach: NamespaceReach, list: Reader): readonly SelectedMetadata[] {
  return list.items().flatMap((item) => {
    const selected = selectedIn(reach, item.at('namespaceSelector'));
    return selected === undefined ? [] : [{ from: item, reach: selected, metadata: metadataIn(item) }];
  });
}

/** Deletes the RoleBindings of Capsule once the policies give the same rights. */
function replaceBindings(run: ImportRun, tenant: ToolObject, names: readonly string[]): void {
  const { name } = tenant;
  // The second label is on no RoleBinding of a GlobalTenantResource, which Reeve may have adopted.
  const left = `rolebindings -A -l projectcapsule.dev/tenant=${name},capsule.clastix.io/role-binding`;
  const lost = lostOf(tenant).some((each) => binding.test(each.from.path ?? ''));
  if (lost || names.length === 0 || run.ofKind('TenantOwner').length > 0)
    run.after.add(
      `kubectl get ${left} lists RoleBindings of Capsule: delete those whose rights the policies give, too`,
    );
  else {
    const policies = names.map((each) => `namespacepolicy/${each}`).join(' ');
    run.after.add(`kubectl wait --for=condition=Ready ${policies} --timeout=2m && kubectl delete ${left}`);
  }
}

/** Parts of a Tenant that give rights. Without one of them, users would lose access with the RoleBindings of Capsule. */
const binding = /^spec(?:$|\.(?:owners|additionalRoleBindings|permissions|rules))/u;

/** A ServiceAccount is written as system:serviceaccount:<namespace>:<name>. */
function ownerOf(item: Reader): readonly BoundSubject[] {
  const [kind, name] = item.textsAt('kind', 'name');
  if (kind === undefined || name === undefined) return incomplete(item);
  if (kind !== 'ServiceAccount') return [{ kind, name }];
  const parts = name.split(':');
  return [{ kind, name: parts.at(-1) ?? '', namespace: parts.at(-2) ?? '' }];
}

const deleter = 'capsule-namespace-deleter';

/** Capsule names its RoleBindings by a hash, so the new ones stand beside them until those are deleted. */
function ownerBindings({ name, reader }: ToolObject): readonly Binding[] {
  const rights = reader
    .at('spec', 'owners')
    .items()
    .flatMap((item) => {
      const owners = ownerOf(item);
      const roles = item.at('clusterRoles').texts() ?? ['admin', deleter];
      if (roles.includes(deleter)) reader.limit(`owners may no longer delete namespaces (${deleter})`);
      return owners.flatMap((owner) => roles.map((role) => ({ role, owner })));
    });
  const groups = [...Map.groupBy(rights, ({ role }) => role)].filter(([role]) => role !== deleter);
  return groups.map(([role, group]) => ({
    name: `${name}-${role}`,
    role,
    subjects: group.map(({ owner }) => owner),
  }));
}

function additionalBindings(prefix: string, list: Reader): readonly Binding[] {
  return list.items().flatMap((item, index) => {
    const role = item.at('clusterRoleName').text();
    const subjects = boundSubjects(item.at('subjects'));
    const [labels, annotations] = [item.at('labels').textMap(), item.at('annotations').textMap()];
    const name = `${prefix}-${role ?? ''}-${index + 1}`;
    return role === undefined ? [] : [{ name, role, subjects, labels, annotations }];
  });
}

function ownersOf({ reader }: ToolObject): readonly BoundSubject[] {
  return reader.at('spec', 'owners').items().flatMap(ownerOf);
}

function requestersOf(owners: readonly BoundSubject[]): object {
  const named = (wanted: string): readonly string[] =>
    owners
      .filter(({ kind }) => kind === wanted)
      .map(({ namespace, name }) => (namespace === undefined ? name : `${namespace}/${name}`));
  return filled({ groups: named('Group'), users: named('User'), serviceAccounts: named('ServiceAccount') });
}

/** Capsule writes the selector into an annotation, which the admission plugin PodNodeSelector reads. */
function nodeSelector(spec: Reader): StringMap {
  const labels = Object.entries(spec.at('nodeSelector').textMap()).map(([key, value]) => `${key}=${value}`);
  if (labels.length === 0) return {};
  return { 'scheduler.alpha.kubernetes.io/node-selector': labels.toSorted().join(',') };
}

/** https://github.com/projectcapsule/capsule/blob/main/api/v1beta2/namespace_options.go */
function namespaceRules(tenant: string, spec: Reader, { prefixesNames }: CapsuleUsers): object {
  const max = spec.at('namespaceOptions', 'quota').number();
  const isPrefixed = spec.at('forceTenantPrefix').flag() ?? prefixesNames;
  return {
    name: isPrefixed ? { pattern: `^${tenant}-` } : undefined,
    quota: max === undefined ? undefined : { label: tenantLabel, max },
  };
}

/** Returns the objects with the names that Capsule gives them. */
function resourcesOf({ name, reader }: ToolObject): readonly unknown[] {
  const spec = reader.at('spec');
  const quotas = spec.at('resourceQuotas');
  const isOfNamespaces = quotas.at('scope').text() === 'Namespace';
  if (!isOfNamespaces && quotas.at('items').items().length > 0)
    quotas.lose('a quota over all namespaces of a tenant', 'give each namespace a ResourceQuota in contents');
  const writer = tenantTemplates(name);
  const listed = (list: Reader, apiVersion: string, kind: string): readonly unknown[] =>
    list
      .at('items')
      .items()
      .map((item, index) => ({
        apiVersion,
        kind,
        metadata: { name: `capsule-${name}-${index}` },
        spec: writer.write(item.whole()),
      }));
  const resources = [
    ...(isOfNamespaces ? listed(quotas, 'v1', 'ResourceQuota') : []),
    ...listed(spec.at('limitRanges'), 'v1', 'LimitRange'),
    ...listed(spec.at('networkPolicies'), 'networking.k8s.io/v1', 'NetworkPolicy'),
  ];
  if (writer.hasUnknown()) reader.limit('templates other than tenant.name and namespace');
  return resources;
}
