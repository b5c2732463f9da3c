// Lists the RBAC rights for a provider's objects: those of its author, and those of Reeve's own account.
import type { NamespacePolicy, NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { DefaultsSpec } from '../../rules/default-keys.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import type { SecretShare } from '../../api/secret-share/secret-share.ts';
import { type ProviderDefinition } from '../compile/load-provider.ts';
import { isProvided, mayMakeSecret, type Install } from '../terms/install.ts';
import type { IntentAdapter } from '../intents/adapter.ts';
import { groupKind, groupOf, roleBindingType, serviceAccountType } from '../../base/object-type.ts';
import { namespaceOfProvider } from '../terms/provider-id.ts';
import type { CompiledShare } from '../compile/compile-policy.ts';
import { hasAuditableRules } from '../decide/audit.ts';

/** An RBAC rule: verbs on objects of one resource, cluster-wide if no namespace is given. */
export interface RightsRule {
  readonly verbs: readonly string[];
  readonly group: string;
  readonly resource: string;
  /** Left out: all objects of the resource. */
  readonly name?: string;
  readonly namespace?: string;
}

interface NeededRights extends RightsRule {
  /** Why the rights are needed. Reeve's account needs none for `defaults`: the webhook sets them in a user's request. */
  readonly for: 'bindings' | 'role' | 'kind' | 'accounts' | 'namespaces' | 'defaults' | 'source' | 'copies';
  /** True if the install allows the object. The author needs the right anyway, because an install may allow more later. */
  readonly isAllowed: boolean;
  /** The purpose of the rights, as it follows "may not": "hand out ClusterRole edit". */
  readonly effect: string;
  /** The path of the field that requires the rights. */
  readonly path: string;
}

const roleGroup = groupOf(roleBindingType.apiVersion);
/** Reeve never sends an update: it applies or patches. */
const writing = ['create', 'patch', 'delete'] as const;

/** Returns each rule once. Repair comes before defaults, because Reeve's own account needs the right for a repair. */
export function neededRights(definition: ProviderDefinition, install: Install): readonly NeededRights[] {
  const needed =
    definition.kind === 'NamespacePolicy'
      ? policyRights(definition.object, install)
      : shareRights(definition.object, definition.compiled, install);
  const byRule = new Map<string, NeededRights>();
  for (const part of needed) {
    const each = inBinding(part, definition);
    const { group, resource, name, namespace } = each;
    const key = JSON.stringify([group, resource, name, namespace, each.for === 'accounts']);
    if (!byRule.has(key)) byRule.set(key, each);
  }
  return [...byRule.values()];
}

/** Returns the rights for all objects that the adapters of the install can provide in a namespace, or in all of them. */
export function rightsOfAdapters(
  adapters: readonly IntentAdapter[],
  namespace: string | undefined,
  { resourceOf }: Install,
): readonly Omit<NeededRights, 'isAllowed' | 'path'>[] {
  const place = namespace === undefined ? {} : { namespace };
  const kinds = new Map(adapters.flatMap(({ provides }) => provides.map((type) => [groupKind(type), type])));
  const named = namespace === undefined ? {} : { name: namespace };
  return [
    ...[...kinds.values()].map(({ apiVersion, kind }) => ({
      for: 'kind' as const,
      verbs: writing,
      group: groupOf(apiVersion),
      resource: resourceOf({ apiVersion, kind }),
      effect: `create, change and delete objects of kind ${kind}`,
      ...place,
    })),
    {
      for: 'defaults',
      verbs: ['patch'],
      group: '',
      resource: 'namespaces',
      effect: repair.effect,
      ...named,
      ...place,
    },
    {
      for: 'accounts',
      verbs: ['patch'],
      group: '',
      resource: 'serviceaccounts',
      effect: accounts.effect,
      ...place,
    },
  ];
}

/** Rights with the path in the spec. The author of a binding did not write this field. */
type NeededPart = Omit<NeededRights, 'path'> & { readonly path: Path };

/** Limits the rights of a tenant to the namespace of the binding. For RBAC, a Namespace is in that namespace. */
function inBinding({ path, ...part }: NeededPart, definition: ProviderDefinition): NeededRights {
  if (definition.kind === 'SecretShare' || definition.intents === undefined)
    return { ...part, path: renderPath(path) };
  const source = renderPath(definition.intents.sourceOf(path));
  const namespace = namespaceOfProvider(definition.compiled.id);
  if (namespace === undefined) return { ...part, path: source };
  const named = part.resource === 'namespaces' ? { name: namespace } : {};
  return { ...part, ...named, namespace, path: source };
}

function policyRights({ spec }: NamespacePolicy, install: Install): readonly NeededPart[] {
  const { roleBindings = [], resources = [], serviceAccounts = [] } = spec.contents ?? {};
  // The right to bind does not cover the RoleBindings of others, which a policy can take over and replace.
  const bindings: NeededPart = {
    for: 'bindings',
    isAllowed: true,
    verbs: writing,
    group: roleGroup,
    resource: 'rolebindings',
    effect: 'create, change and delete RoleBindings',
    path: contentsPath('roleBindings'),
  };
  const roles = roleBindings.map(({ roleRef: { name } }, index): NeededPart => ({
    for: 'role',
    isAllowed: true,
    verbs: ['bind'],
    group: roleGroup,
    resource: 'clusterroles',
    name,
    effect: `hand out ClusterRole ${name}`,
    path: contentsPath('roleBindings', index, 'roleRef'),
  }));
  const kinds = resources.map((type, index): NeededPart => ({
    for: 'kind',
    isAllowed: isProvided(type, install),
    verbs: writing,
    group: groupOf(type.apiVersion),
    resource: install.resourceOf(type),
    effect: `create, change and delete objects of kind ${type.kind}`,
    path: contentsPath('resources', index),
  }));
  return [
    ...(roles.length > 0 ? [bindings] : []),
    ...roles,
    ...kinds,
    ...(serviceAccounts.length > 0 ? [accounts] : []),
    ...(spec.existing === 'Repair' ? [repair] : []),
    ...defaultsRights(spec),
  ];
}

/** A default writes a label or annotation on objects of other users, as `kubectl label` does, so it needs the same rights. */
function defaultsRights({ namespaces, secrets }: NamespacePolicySpec): readonly NeededPart[] {
  return [
    ...(hasKeys(namespaces?.defaults) ? [toSet('Namespaces')] : []),
    ...(hasKeys(secrets?.defaults) ? [toSet('Secrets')] : []),
  ];
}

function toSet(things: 'Namespaces' | 'Secrets'): NeededPart {
  const resource = things.toLowerCase();
  return {
    for: 'defaults',
    isAllowed: true,
    verbs: ['patch'],
    group: '',
    resource,
    effect: `set labels and annotations on ${things}`,
    path: ['spec', resource, 'defaults'],
  };
}

function hasKeys({ labels = {}, annotations = {} }: DefaultsSpec = {}): boolean {
  return Object.keys(labels).length + Object.keys(annotations).length > 0;
}

function contentsPath(...steps: Path): Path {
  return ['spec', 'contents', ...steps];
}

const accounts: NeededPart = {
  for: 'accounts',
  isAllowed: true,
  verbs: ['patch'],
  group: groupOf(serviceAccountType.apiVersion),
  resource: 'serviceaccounts',
  effect: 'change ServiceAccounts',
  path: contentsPath('serviceAccounts'),
};

const repair: NeededPart = {
  for: 'namespaces',
  isAllowed: true,
  verbs: ['patch'],
  group: '',
  resource: 'namespaces',
  effect: 'change existing namespaces',
  path: ['spec', 'existing'],
};

function shareRights(
  { spec }: SecretShare,
  { copy }: CompiledShare,
  install: Install,
): readonly NeededPart[] {
  const { namespace, name } = spec.source;
  const secrets = { group: '', resource: 'secrets', isAllowed: mayMakeSecret(copy.name, install) };
  return [
    {
      ...secrets,
      for: 'source',
      verbs: ['get'],
      namespace,
      name,
      effect: `share Secret ${namespace}/${name}`,
      path: ['spec', 'source'],
    },
    {
      ...secrets,
      for: 'copies',
      verbs: writing,
      effect: 'create, change and delete Secrets',
      path: ['spec', 'targets'],
    },
  ];
}

// Lists the RBAC rules that Reeve's own account needs for one policy or share.

/** Purposes of the rules of Reeve's account. The `named` purposes replace `secrets` in an install that names its Secrets. */
export type RightsPurpose =
  'reconciler' | 'bind' | 'secrets' | 'named-secrets' | 'named-sources' | 'resources' | 'audit-secrets';

/** Where the install holds the rules of one purpose. */
export interface InstallRole {
  readonly role: string;
  /** The file of the install, and the value of the chart. */
  readonly file: string;
  /** What a second list must contain as well: `the ClusterRole to bindableRoles in 41-jail.yaml`. */
  readonly alsoListIn?: string;
}

/** A rule that Reeve's account lacks, and where to add it. */
export interface MissingRights extends RightsRule {
  readonly addTo: InstallRole;
  /** The ClusterRole that the author may have meant, if this is about binding one. */
  readonly meant?: string;
}

/** A rule that Reeve's account needs, and what it is for. */
export interface OwnRights extends RightsRule {
  readonly purpose: RightsPurpose;
}

/** The verbs that Reeve needs to keep objects in sync. */
const keeping = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const;

/** Leaves out rules for objects that the install does not allow. */
export function ownRights(definition: ProviderDefinition, install: Install): readonly OwnRights[] {
  const needed = neededRights(definition, install).filter(({ isAllowed }) => isAllowed);
  const rights = needed.flatMap((each) => ownPart(each, definition, install));
  const providesBindings = needed.some((each) => each.for === 'bindings');
  return [
    ...rights,
    ...auditRights(definition, install).filter(
      ({ resource }) => !providesBindings || resource !== roleBindings.resource,
    ),
  ];
}

/** To judge existing objects, Reeve must read them. */
function auditRights(definition: ProviderDefinition, { auditSecrets }: Install): readonly OwnRights[] {
  if (definition.kind !== 'NamespacePolicy') return [];
  const { compiled } = definition;
  const rbac = (['roles', 'rolebindings'] as const).filter((each) => hasAuditableRules(compiled, each));
  const readsSecrets = auditSecrets && hasAuditableRules(compiled, 'secrets');
  return [
    ...rbac.map((resource): OwnRights => ({
      purpose: 'reconciler',
      verbs: ['list', 'watch'],
      group: roleGroup,
      resource,
    })),
    ...(readsSecrets
      ? [{ purpose: 'audit-secrets', verbs: ['list'], group: '', resource: 'secrets' } as const]
      : []),
  ];
}

const roleBindings: OwnRights = {
  purpose: 'reconciler',
  verbs: keeping,
  group: roleGroup,
  resource: 'rolebindings',
};

function ownPart(
  needed: NeededRights,
  definition: ProviderDefinition,
  install: Install,
): readonly OwnRights[] {
  const { verbs, group, resource, name, namespace } = needed;
  const rule = { verbs, group, resource };
  switch (needed.for) {
    case 'bindings':
      return [roleBindings];
    case 'role':
      return [{ ...rule, purpose: 'bind', ...(name === undefined ? {} : { name }) }];
    case 'kind':
      return [{ ...rule, purpose: 'resources', verbs: keeping }];
    case 'accounts':
      return [{ ...rule, purpose: 'reconciler', verbs: ['list', 'watch', 'patch'] }];
    case 'namespaces':
      return [{ ...rule, purpose: 'reconciler' }];
    case 'defaults':
      return [];
    case 'source':
      return install.secretNames === undefined || namespace === undefined
        ? // The rule for all Secrets covers the source.
          []
        : // Reeve watches the whole namespace of the source, so the rule cannot name the Secret.
          [{ ...rule, purpose: 'named-sources', verbs: ['get', 'list', 'watch'], namespace }];
    case 'copies':
      return [{ ...rule, verbs: keeping, ...copies(definition, install) }];
    default:
      return needed.for satisfies never;
  }
}

function copies(
  definition: ProviderDefinition,
  { secretNames }: Install,
): Pick<OwnRights, 'purpose' | 'name'> {
  return secretNames === undefined || definition.kind !== 'SecretShare'
    ? { purpose: 'secrets' }
    : { purpose: 'named-secrets', name: definition.compiled.copy.name };
}
