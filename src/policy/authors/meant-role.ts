// Guesses which ClusterRole an author meant by a name that may not exist. Reeve has no right to read ClusterRoles.
import { nearest } from '../../base/nearest.ts';
import { clipped } from '../../base/text.ts';
import type { ClusterSnapshot } from '../compile/snapshot.ts';
import type { ProviderId } from '../terms/provider-id.ts';
import type { ProviderWrite } from './provider-write.ts';

/** https://kubernetes.io/docs/reference/access-authn-authz/rbac/#user-facing-roles */
const userFacing = ['view', 'edit', 'admin', 'cluster-admin'];
/** Comparing two words takes microseconds. */
const maxCompared = 1000;
/** In shorter names, a second letter makes another word. */
const minLength = 6;

/** Warns of ClusterRoles that the write newly binds, and that another name resembles. */
export function misspelledRoles(
  { id, before, after }: ProviderWrite,
  snapshot: ClusterSnapshot,
): readonly string[] {
  const known = new Set(roleNames(before));
  return roleNames(after).flatMap((name) => {
    const meant = known.has(name) ? undefined : meantRole(name, id, snapshot);
    if (meant === undefined) return [];
    return [
      `${id} binds ClusterRole ${clipped(name)}, which no other policy binds; did you mean ${clipped(meant)}?`,
    ];
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
  if (userFacing.includes(name) || bound.has(name)) return undefined;
  const known = [...userFacing, ...[...bound].filter((each) => !isSibling(name, each))];
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
