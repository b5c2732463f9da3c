// Joins the violations of Namespaces and of objects in them, and puts them into words for the status.
import type { AuditedResource } from '../decide/audit.ts';
import type { NamespaceViolation } from './provider-tally.ts';

/** The fields of `status.violationsByResource`. */
type CountedResource = 'namespaces' | 'roles' | 'roleBindings' | 'secrets';

export interface Violations {
  readonly count: number;
  /** A resource is missing while it is not audited. */
  readonly byResource: Readonly<Partial<Record<CountedResource, number>>>;
  readonly top: readonly NamespaceViolation[];
  /** True if the policy has rules on Secrets and the install does not audit them. */
  readonly leavesOutSecrets: boolean;
}

interface FoundViolations {
  readonly count: number;
  readonly top: readonly NamespaceViolation[];
}

export interface AuditedObjects {
  readonly counts: ReadonlyMap<AuditedResource, number>;
  readonly top: readonly NamespaceViolation[];
  readonly leavesOutSecrets: boolean;
}

const maxListed = 20;
/** So many objects come before the Namespaces: a RoleBinding to cluster-admin is worse than a missing label. */
const objectsFirst = 10;

export function allViolations(namespaces: FoundViolations, objects: AuditedObjects): Violations {
  const { counts, leavesOutSecrets } = objects;
  const byResource = {
    namespaces: namespaces.count,
    ...numbered('roles', counts.get('roles')),
    ...numbered('roleBindings', counts.get('rolebindings')),
    ...numbered('secrets', counts.get('secrets')),
  };
  const count = namespaces.count + [...counts.values()].reduce((sum, each) => sum + each, 0);
  const [first, others] = [objects.top.slice(0, objectsFirst), objects.top.slice(objectsFirst)];
  const top = [...first, ...namespaces.top, ...others].slice(0, maxListed);
  return { count, byResource, top, leavesOutSecrets };
}

function numbered(resource: CountedResource, count: number | undefined): Violations['byResource'] {
  return count === undefined ? {} : { [resource]: count };
}

/** People read the violations first. They make no policy unready: a violation is for the owner of the namespace to mend. */
export function violationsMessage({ count, top: [first] }: Violations): string {
  if (first === undefined) return '';
  const { namespace, kind, name = '', rule } = first;
  const object = kind === undefined ? '' : `${kind} ${name} `;
  return `${count} violation${count === 1 ? '' : 's'}, first ${object}in namespace ${namespace}: ${rule}; `;
}

export function secretsMessage({ leavesOutSecrets }: Violations): string {
  return leavesOutSecrets ? '; Secrets: judged when written' : '';
}
