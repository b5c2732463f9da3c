// Says what a RoleBinding grants, and to whom.
import { ownMember } from '../../base/json.ts';

const maxSubjects = 5;

/** `ClusterRole/edit for Group/on-call`. */
export function grantText(binding: unknown): string {
  const subjects = ownMember(binding, 'subjects');
  const names = Array.isArray(subjects) ? subjects.map(referenceText) : [];
  const more = names.length - maxSubjects;
  const shown = names.slice(0, maxSubjects).join(', ');
  return `${referenceText(ownMember(binding, 'roleRef'))} for ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A ServiceAccount has a namespace. */
function referenceText(reference: unknown): string {
  const parts = ['kind', 'namespace', 'name'].map((field) => ownMember(reference, field));
  return parts.filter((part) => typeof part === 'string' && part !== '').join('/');
}
