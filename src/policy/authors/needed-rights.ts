// Which rights of RBAC it takes to make what a policy or share provides: asked of its author, and of our own account.
import type { NamespacePolicy } from '../../api/namespace-policy/namespace-policy.ts';
import { renderPath, type Path } from '../../base/problem.ts';
import type { SecretShare } from '../../api/secret-share/secret-share.ts';
import { isProvided, mayMakeSecret, type Install } from '../compile/install.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';
import { groupOf, roleBindingType } from '../compile/object-key.ts';
import type { CompiledShare } from '../compile/compile-share.ts';

/** A rule of RBAC: some verbs on objects of one resource, cluster-wide where no namespace is given. */
export interface RightsRule {
  readonly verbs: readonly string[];
  readonly group: string;
  readonly resource: string;
  /** Left out: all of them. */
  readonly name?: string;
  readonly namespace?: string;
}

export interface NeededRights extends RightsRule {
  readonly for: 'role' | 'kind' | 'namespaces' | 'source' | 'copies';
  /** Whether the install lets it be made. Its author is asked all the same: an install may come to allow more. */
  readonly isAllowed: boolean;
  /** What it takes them for: "hand out ClusterRole edit". */
  readonly effect: string;
  /** Of the field that asks for it. */
  readonly path: string;
}

export const roleGroup = groupOf(roleBindingType.apiVersion);
/** All that is written is written by apply or patch. */
const making = ['create', 'patch', 'delete'] as const;

/** Each once. */
export function neededRights(definition: ProviderDefinition, install: Install): readonly NeededRights[] {
  const needed =
    definition.kind === 'NamespacePolicy'
      ? policyRights(definition.object, install)
      : shareRights(definition.object, definition.compiled, install);
  const byRule = new Map<string, NeededRights>();
  for (const each of needed) {
    const key = JSON.stringify([each.group, each.resource, each.name, each.namespace]);
    if (!byRule.has(key)) byRule.set(key, each);
  }
  return [...byRule.values()];
}

function policyRights({ spec }: NamespacePolicy, install: Install): readonly NeededRights[] {
  const { roleBindings = [], resources = [] } = spec.contents ?? {};
  const roles = roleBindings.map(({ roleRef: { name } }, index): NeededRights => ({
    for: 'role',
    isAllowed: true,
    verbs: ['bind'],
    group: roleGroup,
    resource: 'clusterroles',
    name,
    effect: `hand out ClusterRole ${name}`,
    path: contentsPath('roleBindings', index, 'roleRef'),
  }));
  const kinds = resources.map((type, index): NeededRights => ({
    for: 'kind',
    isAllowed: isProvided(type, install),
    verbs: making,
    group: groupOf(type.apiVersion),
    resource: install.resourceOf(type),
    effect: `make, change and delete objects of kind ${type.kind}`,
    path: contentsPath('resources', index),
  }));
  return [...roles, ...kinds, ...(spec.existing === 'Repair' ? [repair] : [])];
}

function contentsPath(...steps: Path): string {
  return renderPath(['spec', 'contents', ...steps]);
}

const repair: NeededRights = {
  for: 'namespaces',
  isAllowed: true,
  verbs: ['patch'],
  group: '',
  resource: 'namespaces',
  effect: 'change namespaces that exist',
  path: 'spec.existing',
};

function shareRights(
  { spec }: SecretShare,
  { copy }: CompiledShare,
  install: Install,
): readonly NeededRights[] {
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
      path: 'spec.source',
    },
    {
      ...secrets,
      for: 'copies',
      verbs: making,
      effect: 'make, change and delete Secrets',
      path: 'spec.targets',
    },
  ];
}
