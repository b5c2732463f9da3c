// Which of two versions of an object is the newer one.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions: decimal numbers, comparable for one kind.

/** Numbers of any length; of anything else it is only known whether it is the same. */
export function isNewer(version: string, than: string): boolean {
  if (version === than) return false;
  if (!isNumber(version) || !isNumber(than)) return true;
  const [a, b] = [withoutZeros(version), withoutZeros(than)];
  return a.length === b.length ? a > b : a.length > b.length;
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function withoutZeros(digits: string): string {
  return digits.startsWith('0') ? digits.replace(/^0+/, '') : digits;
}

/**
 * As a precondition of an apply: there must be no such object yet. No object ever has this version, and one that is
 * there with another version is a conflict (seen on 1.36, for Secrets, RoleBindings and custom resources).
 */
export const nothingThere = '1';
