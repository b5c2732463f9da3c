// The policies and shares that could provide what another one provides: only they can keep it from being deleted.
import { secretObjectType } from '../compile/compile-contents.ts';
import type { ObjectType } from '../compile/compile-contents.ts';
import { PolicySet } from '../compile/policy-set.ts';
import { ShareSet } from '../compile/share-set.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import { groupKind } from '../compile/install.ts';
import type { ProviderDefinition } from '../compile/load-provider.ts';

/** The snapshot with them alone; for namespaces that are managed. */
export function rivalsOf(definition: ProviderDefinition, snapshot: ClusterSnapshot): ClusterSnapshot {
  return {
    ...snapshot,
    policies: new PolicySet(rivalPolicies(definition, snapshot), { excludedNamespaces: [] }),
    shares: new ShareSet(rivalShares(definition, snapshot)),
  };
}

function rivalPolicies(definition: ProviderDefinition, { policies }: ClusterSnapshot) {
  const types = new Set(typesOf(definition).map(groupKind));
  return policies.policies.filter(
    ({ name, contents }) =>
      !(definition.kind === 'NamespacePolicy' && name === definition.compiled.name) &&
      contents.some(({ type }) => types.has(groupKind(type))),
  );
}

/** Policies never provide Secrets. */
function rivalShares(definition: ProviderDefinition, { shares }: ClusterSnapshot) {
  if (definition.kind !== 'SecretShare') return [];
  const { name, copy } = definition.compiled;
  return shares.shares.filter((share) => share.name !== name && share.copy.name === copy.name);
}

function typesOf(definition: ProviderDefinition): readonly ObjectType[] {
  return definition.kind === 'SecretShare'
    ? [secretObjectType]
    : definition.compiled.contents.map(({ type }) => type);
}
