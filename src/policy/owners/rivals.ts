// The policies and shares that could provide what another one provides: only they can keep it from being deleted.
import { secretObjectType } from '../contents/compile-contents.ts';
import type { ObjectType } from '../contents/compile-contents.ts';
import { PolicySet } from '../policy-set.ts';
import { ShareSet } from '../share-set.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { groupKind } from './install.ts';
import type { OwnerDefinition } from './load-owner.ts';

/** The snapshot with them alone; for namespaces that are managed. */
export function rivalsOf(definition: OwnerDefinition, snapshot: ClusterSnapshot): ClusterSnapshot {
  return {
    ...snapshot,
    policies: new PolicySet(rivalPolicies(definition, snapshot), { excludedNamespaces: [] }),
    shares: new ShareSet(rivalShares(definition, snapshot)),
  };
}

function rivalPolicies(definition: OwnerDefinition, { policies }: ClusterSnapshot) {
  const types = new Set(typesOf(definition).map(groupKind));
  return policies.policies.filter(
    ({ name, contents }) =>
      !(definition.kind === 'NamespacePolicy' && name === definition.compiled.name) &&
      contents.some(({ type }) => types.has(groupKind(type))),
  );
}

/** Policies never provide Secrets. */
function rivalShares(definition: OwnerDefinition, { shares }: ClusterSnapshot) {
  if (definition.kind !== 'SecretShare') return [];
  const { name, copy } = definition.compiled;
  return shares.shares.filter((share) => share.name !== name && share.copy.name === copy.name);
}

function typesOf(definition: OwnerDefinition): readonly ObjectType[] {
  return definition.kind === 'SecretShare'
    ? [secretObjectType]
    : definition.compiled.contents.map(({ type }) => type);
}
