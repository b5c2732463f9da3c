// Lists the RBAC rights for a provider's objects: those of its author, and those of Reeve's own account.
import type { NamespacePolicy, NamespacePolicySpec } from '../../api/namespace-policy/namespace-policy.ts';
import type { DefaultsSpec } from '../../rules/default-keys.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import { keeping, writing, type ContentRight, type WrittenContent } from '../../contents/content.ts';
import { resources } from '../../contents/resources.ts';
import { serviceAccounts } from '../../contents/service-accounts.ts';
import {
  policyIn,
  sourceField,
  type ProviderDefinition,
  type ShareDefinition,
} from '../compile/load-provider.ts';
import { isContentAllowed, mayCreate, type Install } from '../terms/install.ts';
import type { IntentAdapter } from '../intents/adapter.ts';
import { groupKind, groupOf, roleBindingType } from '../../base/object-type.ts';
import { namespaceOfProvider } from '../terms/provider-id.ts';
import type { CompiledPolicy } from '../compile/compile-policy.ts';
import { hasAuditableRules } from '../compile/snapshot.ts';

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
  /** What Reeve's own account needs. Nothing for defaults, which the webhook sets in the request of another user. */
  readonly own: readonly OwnRights[];
  /** Set for a right to hand something out, which a suspended provider requires too. */
  readonly handsOut?: true;
  /** True if the install allows the object. The author needs the right anyway, because an install may allow more later. */
  readonly isAllowed: boolean;
  /** The purpose of the rights, as it follows "may not": "hand out ClusterRole edit". */
  readonly effect: string;
  /** The path of the field that requires the rights. */
  readonly path: string;
}

const roleGroup = groupOf(roleBindingType.apiVersion);

/** Returns each rule once. Repair comes before defaults, because Reeve's own account needs the right for a repair. */
export function neededRights(definition: ProviderDefinition, install: Install): readonly NeededRights[] {
  const byRule = new Map<string, NeededRights>();
  for (const part of partsOf(definition, install)) {
    const each = inBinding(part, definition);
    const { verbs, group, resource, name, namespace } = each;
    const key = JSON.stringify([verbs, group, resource, name, namespace]);
    if (!byRule.has(key)) byRule.set(key, each);
  }
  return [...byRule.values()];
}

function partsOf(definition: ProviderDefinition, install: Install): readonly NeededPart[] {
  switch (definition.kind) {
    case 'NamespacePolicy':
      return policyRights(definition.object, definition.compiled, install);
    case 'SecretShare':
    case 'ConfigMapShare':
      return shareRights(definition, install);
    default:
      return definition satisfies never;
  }
}

/** Returns the rights for all objects that the adapters of the install can provide in a namespace, or in all of them. */
export function rightsOfAdapters(
  adapters: readonly IntentAdapter[],
  namespace: string | undefined,
  { resourceOf }: Install,
): readonly (RightsRule & Pick<NeededRights, 'effect'>)[] {
  const place = namespace === undefined ? {} : { namespace };
  const kinds = new Map(adapters.flatMap(({ provides }) => provides.map((type) => [groupKind(type), type])));
  const named = namespace === undefined ? {} : { name: namespace };
  return [
    ...[...kinds.values()].flatMap((type) =>
      resources
        .rights({ ...type, metadata: anyName }, resourceOf)
        .map((right) => ({ ...ruleOf(right), ...place })),
    ),
    { ...ruleOf(repair), ...named, ...place },
    ...serviceAccounts.rights(anyName, resourceOf).map((right) => ({ ...ruleOf(right), ...place })),
  ];
}

/** No right depends on the name of the object. */
const anyName = { name: '' };

function ruleOf({ verbs, group, resource, name, effect }: ContentRight | NeededPart) {
  return { verbs, group, resource, ...(name === undefined ? {} : { name }), effect };
}

/** Rights with the path in the spec. The author of a binding did not write this field. */
type NeededPart = Omit<NeededRights, 'path'> & { readonly path: Path };

/** Limits the rights of a tenant to the namespace of the binding. For RBAC, a Namespace is in that namespace. */
function inBinding({ path, ...part }: NeededPart, definition: ProviderDefinition): NeededRights {
  if (definition.intents === undefined) return { ...part, path: renderPath(path) };
  const source = renderPath(definition.intents.sourceOf(path));
  const namespace = namespaceOfProvider(definition.compiled.id);
  if (namespace === undefined) return { ...part, path: source };
  const named = part.resource === 'namespaces' ? { name: namespace } : {};
  return { ...part, ...named, namespace, path: source };
}

function policyRights(
  { spec }: NamespacePolicy,
  { contents }: CompiledPolicy,
  install: Install,
): readonly NeededPart[] {
  const rights = contents.flatMap((content) => contentRights(content, install));
  return [...rights, ...(spec.existing === 'Repair' ? [repair] : []), ...defaultsRights(spec)];
}

function contentRights(content: WrittenContent, install: Install): readonly NeededPart[] {
  const { contentKind, value, path } = content;
  return contentKind.rights(value, install.resourceOf).map(({ field, own, ...right }) => ({
    ...right,
    isAllowed: isContentAllowed(content, install),
    path: field === undefined ? path.slice(0, -1) : [...path, ...field],
    own: [ownRight(right, own.purpose, own.verbs)],
  }));
}

function ownRight(
  { group, resource, name }: RightsRule,
  purpose: RightsPurpose,
  verbs: readonly string[],
): OwnRights {
  return { purpose, verbs, group, resource, ...(name === undefined ? {} : { name }) };
}

/** A default writes a label or annotation on objects of other users, as `kubectl label` does, so it needs the same rights. */
function defaultsRights({ namespaces, secrets }: NamespacePolicySpec): readonly NeededPart[] {
  return [
    ...(hasKeys(namespaces?.defaults) ? [toSet('Namespaces', 'defaults')] : []),
    ...(hasKeys(namespaces?.enforced) ? [toSet('Namespaces', 'enforced')] : []),
    ...(hasKeys(secrets?.defaults) ? [toSet('Secrets', 'defaults')] : []),
  ];
}

function toSet(things: 'Namespaces' | 'Secrets', field: 'defaults' | 'enforced'): NeededPart {
  const resource = things.toLowerCase();
  return {
    own: [],
    isAllowed: true,
    verbs: ['patch'],
    group: '',
    resource,
    effect: `set labels and annotations on ${things}`,
    path: ['spec', resource, field],
  };
}

function hasKeys({ labels = {}, annotations = {} }: DefaultsSpec = {}): boolean {
  return Object.keys(labels).length + Object.keys(annotations).length > 0;
}

const patchNamespaces = { verbs: ['patch'], group: '', resource: 'namespaces' } as const;

const repair: NeededPart = {
  ...patchNamespaces,
  own: [{ purpose: 'reconciler', ...patchNamespaces }],
  isAllowed: true,
  effect: 'change existing namespaces',
  path: ['spec', 'existing'],
};

function shareRights(share: ShareDefinition, install: Install): readonly NeededPart[] {
  const { copy, sources, type } = share.compiled;
  // A template can give any name that the install allows.
  const isAllowed = copy.name.includes('${') || mayCreate({ type, name: copy.name }, install);
  return [
    ...sources.map(({ type: { kind }, namespace, name }, index): NeededPart => {
      const resource = { group: '', resource: `${kind.toLowerCase()}s` } as const;
      return {
        ...resource,
        isAllowed,
        verbs: ['get'],
        namespace,
        name,
        effect: `share ${kind} ${namespace}/${name}`,
        path: sourceField(share, index),
        handsOut: true,
        own: ownToRead(share, { ...resource, namespace }, install),
      };
    }),
    {
      group: '',
      resource: `${type.kind.toLowerCase()}s`,
      isAllowed,
      verbs: writing,
      effect: `create, change and delete ${type.kind}s`,
      path: ['spec', 'targets'],
      own: ownToKeep(share, install),
    },
  ];
}

const secrets = { group: '', resource: 'secrets' } as const;

/** The rule for all ConfigMaps covers a source, and so does the rule for all Secrets if the share keeps Secrets. */
function ownToRead(
  { kind }: ShareDefinition,
  source: RightsRule | Omit<RightsRule, 'verbs'>,
  { secretNames }: Install,
): readonly OwnRights[] {
  if (source.resource !== secrets.resource) return [];
  const verbs = ['get', 'list', 'watch'];
  // Reeve watches the whole namespace of the source, so the rule cannot name the Secret.
  if (secretNames !== undefined) return [{ ...source, purpose: 'named-sources', verbs }];
  return kind === 'SecretShare' ? [] : [{ ...secrets, purpose: 'secrets', verbs }];
}

function ownToKeep(
  { kind, compiled: { copy } }: ShareDefinition,
  { secretNames }: Install,
): readonly OwnRights[] {
  if (kind === 'ConfigMapShare')
    return [{ group: '', resource: 'configmaps', purpose: 'resources', verbs: keeping }];
  if (secretNames === undefined) return [{ ...secrets, purpose: 'secrets', verbs: keeping }];
  const names = copy.name.includes('${') ? secretNames : [copy.name];
  return names.map((name) => ({ ...secrets, purpose: 'named-secrets', verbs: keeping, name }));
}

// Lists the RBAC rules that Reeve's own account needs for one policy or share.

/** Purposes of the rules of Reeve's account. The `named` purposes replace `secrets` in an install that names its Secrets. */
export type RightsPurpose =
  ContentRight['own']['purpose'] | 'secrets' | 'named-secrets' | 'named-sources' | 'audit-secrets';

/** A rule that Reeve's account needs, and what it is for. */
export interface OwnRights extends RightsRule {
  readonly purpose: RightsPurpose;
}

/** A rule that Reeve's account lacks. */
export interface MissingRights extends OwnRights {
  /** The ClusterRole that the author may have meant, if this is about binding one. */
  readonly meant?: string;
}

/** Leaves out rules for objects that the install does not allow. */
export function ownRights(definition: ProviderDefinition, install: Install): readonly OwnRights[] {
  const needed = neededRights(definition, install).filter(({ isAllowed }) => isAllowed);
  const rights = needed.flatMap(({ own }) => own);
  // The right to keep objects covers the one to audit them.
  const isKept = ({ group, resource }: OwnRights): boolean =>
    rights.some((each) => each.group === group && each.resource === resource);
  return [...rights, ...auditRights(definition, install).filter((each) => !isKept(each))];
}

/** To judge existing objects, Reeve must read them. */
function auditRights(definition: ProviderDefinition, { auditSecrets }: Install): readonly OwnRights[] {
  const policy = policyIn(definition)?.compiled;
  if (policy === undefined) return [];
  const rbac = (['roles', 'rolebindings'] as const).filter((each) => hasAuditableRules(policy, each));
  const readsSecrets = auditSecrets && hasAuditableRules(policy, 'secrets');
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
