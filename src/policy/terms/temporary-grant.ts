// Reads the end of a RoleBinding that was granted for a while (`reeve grant access`).
import { annotationsOf, labelsOf, valueOf, type KubeObject } from '../../base/metadata.ts';
import { parseTime, rfc3339 } from '../../base/time.ts';
import { expiresAtAnnotation, managedByLabel, managedByReeve, temporaryLabel } from '../../schema/names.ts';

/**
 * Milliseconds since the epoch. NaN if the annotation is missing or unreadable, so that nothing is deleted by guess. Undefined if
 * the object is no such grant: a RoleBinding of a policy ends with its policy, whatever its labels.
 */
export function endOfGrant(object: KubeObject): number | undefined {
  const labels = labelsOf(object);
  const isGrant =
    valueOf(labels, temporaryLabel) === 'true' && valueOf(labels, managedByLabel) !== managedByReeve;
  return isGrant ? parseTime(valueOf(annotationsOf(object), expiresAtAnnotation) ?? '') : undefined;
}

/** Completes "access": `that Reeve ends at 2026-01-01T00:00:00Z`. */
export function grantEndText(end: number): string {
  return Number.isNaN(end)
    ? `without an end: the annotation ${expiresAtAnnotation} has no time`
    : `that Reeve ends at ${rfc3339(new Date(end))}`;
}
