// Lists the RBAC rules that Reeve's own account needs for one policy or share.
import type { Install } from '../compile/install.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { hasAuditableRules } from '../decide/audit.ts';
import { neededRights, roleGroup, type NeededRights, type RightsRule } from './needed-rights.ts';

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
  const readsSecrets = auditSecrets === true && hasAuditableRules(compiled, 'secrets');
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
