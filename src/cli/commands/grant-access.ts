// What `reeve grant access` creates: a RoleBinding for people in one namespace, which Reeve deletes at its end.
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../base/metadata.ts';
import { groupOf, roleBindingType } from '../../base/object-type.ts';
import { rfc3339 } from '../../base/time.ts';
import { alternatives, quoted } from '../../base/text.ts';
import { expiresAtAnnotation, systemNamespaces, temporaryLabel } from '../../schema/names.ts';

export interface Subject {
  readonly kind: 'Group' | 'User' | 'ServiceAccount';
  readonly name: string;
  readonly namespace?: string;
}

interface AccessFlags {
  readonly role: string | undefined;
  readonly namespace: string | undefined;
}

/** Returns what is wrong with the flags. */
export function accessProblems(
  { role, namespace }: AccessFlags,
  words: readonly string[],
): readonly string[] {
  return [
    ...(words.length === 0 ? [] : [`${quoted(words.join(' '))} is not expected: access takes flags alone`]),
    ...(role === undefined ? ['--role is missing'] : roleProblems(role)),
    ...(namespace === undefined ? ['-n is missing: access is granted in one namespace'] : []),
    ...(systemNamespaces.some((each) => each === namespace)
      ? [`-n: Reeve ends nothing in ${alternatives(systemNamespaces)}`]
      : []),
  ];
}

const roleKinds = ['ClusterRole', 'Role'];

function roleProblems(role: string): readonly string[] {
  const { kind, name } = roleOf(role);
  return name !== '' && roleKinds.includes(kind)
    ? []
    : [
        `--role: ${quoted(role)} is not valid; accepted: the name of a ClusterRole, ClusterRole/NAME or Role/NAME`,
      ];
}

/** A name alone is that of a ClusterRole. Names of roles have no slash. */
function roleOf(role: string): { readonly kind: string; readonly name: string } {
  const [first = '', ...rest] = role.split('/');
  return rest.length === 0 ? { kind: 'ClusterRole', name: first } : { kind: first, name: rest.join('/') };
}

/** The same role for the same people is the same RoleBinding, so that a second grant moves its end. */
export function accessBinding(
  role: string,
  namespace: string,
  subjects: readonly Subject[],
  end: Date,
): KubeObject {
  const { apiVersion, kind } = roleBindingType;
  const apiGroup = groupOf(apiVersion);
  const ref = roleOf(role);
  return {
    apiVersion,
    kind,
    metadata: {
      name: `reeve-access-${hashOf([ref.kind, ref.name, ...subjectKeys(subjects)])}`,
      namespace,
      labels: { [temporaryLabel]: 'true' },
      annotations: { [expiresAtAnnotation]: rfc3339(end) },
    },
    roleRef: { apiGroup, ...ref },
    subjects: rbacSubjects(subjects),
  };
}

export function rbacSubjects(subjects: readonly Subject[]): readonly object[] {
  const apiGroup = groupOf(roleBindingType.apiVersion);
  return subjects.map((each) => (each.kind === 'ServiceAccount' ? each : { apiGroup, ...each }));
}

export function subjectKeys(subjects: readonly Subject[]): readonly string[] {
  return subjects.map(({ kind, namespace, name }) => JSON.stringify([kind, namespace, name])).toSorted();
}

export function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join()).digest('hex').slice(0, 8);
}
