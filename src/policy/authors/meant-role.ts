// Guesses which ClusterRole an author meant by a name that may not exist. Reeve has no right to read ClusterRoles.
import { nearest } from '../../base/nearest.ts';
import { clipped } from '../../base/text.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ProviderWrite } from './provider-write.ts';

/** https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles */
export const userFacingRoles: readonly string[] = ['view', 'edit', 'admin', 'cluster-admin'];
/** Comparing two words takes microseconds. */
const maxCompared = 1000;
/** In shorter names, a second letter makes another word. */
const minLength = 6;

/** A ClusterRole that another one resembles. */
export interface MisspelledRole {
  readonly name: string;
  readonly message: string;
}

/** Warns of ClusterRoles that the write newly binds, and that another name resembles. */
export function misspelledRoles(
  { id, before, after }: Pick<ProviderWrite, 'id' | 'before' | 'after'>,
  snapshot: ClusterSnapshot,
): readonly MisspelledRole[] {
  const known = new Set(roleNames(before));
  return roleNames(after).flatMap((name) => {
    const meant = known.has(name) ? undefined : meantRole(name, id, snapshot);
    if (meant === undefined) return [];
    const message = `${id} binds ClusterRole ${clipped(name)}, which no other policy binds; did you mean ${clipped(meant)}?`;
    return [{ name, message }];
  });
}

/** Returns undefined for a name of Kubernetes, and for one that another policy binds too. */
export function meantRole(
  name: string,
  provider: ProviderId,
  { policies }: ClusterSnapshot,
): string | undefined {
  const others = policies.policies.filter(({ id }) => id !== provider);
  const bound = new Set(others.flatMap((policy) => policy.roleNames));
  if (userFacingRoles.includes(name) || bound.has(name)) return undefined;
  const known = [...userFacingRoles, ...[...bound].filter((each) => !isSibling(name, each))];
  return nearest(
    name,
    known.slice(0, maxCompared).filter((each) => resembles(name, each)),
    2,
  );
}

function resembles(name: string, known: string): boolean {
  const letters = known.length < minLength && lettersOf(name) !== lettersOf(known) ? 1 : 2;
  return nearest(name, [known], letters) !== undefined;
}

function lettersOf(name: string): string {
  return Array.from(name).toSorted().join('');
}

/** `team-a` and `team-b`, `reader1` and `reader2` are two roles, not one that is misspelled. */
function isSibling(name: string, known: string): boolean {
  return name.length === known.length && name.slice(0, -2) === known.slice(0, -2);
}

function roleNames(definition: ProviderWrite['after']): readonly string[] {
  return definition?.kind === 'NamespacePolicy' ? definition.compiled.roleNames : [];
}
