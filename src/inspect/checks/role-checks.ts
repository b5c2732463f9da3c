// Compares the ClusterRoles that policies bind with those of the state.
import { nameOf } from '../../base/metadata.ts';
import { nearest } from '../../base/nearest.ts';
import { clipped } from '../../base/text.ts';
import { userFacingRoles, type MisspelledRole } from '../../policy/authors/meant-role.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { clusterRoleType } from '../input/access.ts';
import type { ClusterState } from '../input/cluster-state.ts';

/** With those that every cluster has. Returns undefined if the state has none. */
export function knownRoles(state: ClusterState): ReadonlySet<string> | undefined {
  const roles = state.objects(clusterRoleType);
  return roles.length === 0 ? undefined : new Set([...userFacingRoles, ...roles.map(nameOf)]);
}

export function unknownRoles(
  definition: ProviderDefinition,
  known: ReadonlySet<string>,
): readonly MisspelledRole[] {
  const names = definition.kind === 'NamespacePolicy' ? definition.compiled.roleNames : [];
  return [...new Set(names)]
    .filter((name) => !known.has(name))
    .map((name) => {
      const near = nearest(name, [...known], 2);
      const meant = near === undefined ? '' : ` (did you mean ${clipped(near)}?)`;
      return { name, message: `there is no ClusterRole ${clipped(name)}${meant}` };
    });
}
