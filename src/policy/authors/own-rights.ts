// Which rights the account of the reconciler needs for one policy or share, and where an install gives them.
import type { Install } from '../compile/install.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { neededRights, roleGroup, type NeededRights, type RightsRule } from './needed-rights.ts';

/** A rule that may be missing, and the role that it belongs to. */
export interface OwnRights extends RightsRule {
  readonly role: InstallRole;
}

/** By what it gives rights to; the `named` ones where the install names the Secrets. */
export type InstallRole = 'reconciler' | 'bind' | 'secrets' | 'named-secrets' | 'named-sources' | 'resources';

const keeping = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const;

/** Never those to what the install does not let be made. */
export function ownRights(definition: ProviderDefinition, install: Install): readonly OwnRights[] {
  const needed = neededRights(definition, install).filter(({ isAllowed }) => isAllowed);
  const rights = needed.flatMap((each) => ownPart(each, definition, install));
  return needed.some((each) => each.for === 'role') ? [roleBindings, ...rights] : rights;
}

const roleBindings: OwnRights = {
  role: 'reconciler',
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
    case 'role':
      return [{ ...rule, role: 'bind', ...(name === undefined ? {} : { name }) }];
    case 'kind':
      return [{ ...rule, role: 'resources', verbs: keeping }];
    case 'namespaces':
      return [{ ...rule, role: 'reconciler' }];
    case 'source':
      return install.secretNames === undefined || namespace === undefined
        ? // Whoever may read all Secrets may read this one.
          []
        : // That sources change is told by a watch of the whole namespace.
          [{ ...rule, role: 'named-sources', verbs: ['get', 'list', 'watch'], namespace }];
    case 'copies':
      return [{ ...rule, verbs: keeping, ...copies(definition, install) }];
    default:
      return needed.for satisfies never;
  }
}

function copies(definition: ProviderDefinition, { secretNames }: Install): Pick<OwnRights, 'role' | 'name'> {
  return secretNames === undefined || definition.kind !== 'SecretShare'
    ? { role: 'secrets' }
    : { role: 'named-secrets', name: definition.compiled.copy.name };
}
