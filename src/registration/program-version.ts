// Compares versions of the program, so that an older version leaves the work of a newer one alone.

/** True when the annotation names a newer version. Text that is no version is older than every version. */
export function isNewerProgram(annotation: string | undefined, ours: string): boolean {
  const other = parseVersion(annotation ?? '');
  const own = parseVersion(ours);
  return other !== undefined && (own === undefined || compareVersions(other, own) > 0);
}

interface Version {
  readonly numbers: readonly number[];
  /** Empty in a release. */
  readonly prerelease: readonly string[];
}

/** https://semver.org/#is-there-a-suggested-regular-expression-regex-to-check-a-semver-string */
const versionPattern =
  /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

function parseVersion(text: string): Version | undefined {
  const match = versionPattern.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return { numbers: [major, minor, patch].map(Number), prerelease: prerelease?.split('.') ?? [] };
}

/** https://semver.org/#spec-item-11 */
function compareVersions(a: Version, b: Version): number {
  const numbers = firstDifference(a.numbers, b.numbers, (one, other) => one - other);
  if (numbers !== 0) return numbers;
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return b.prerelease.length - a.prerelease.length;
  const identifiers = firstDifference(a.prerelease, b.prerelease, compareIdentifiers);
  return identifiers === 0 ? a.prerelease.length - b.prerelease.length : identifiers;
}

function firstDifference<T>(a: readonly T[], b: readonly T[], compare: (one: T, other: T) => number): number {
  for (const [index, one] of a.entries()) {
    const other = b[index];
    const difference = other === undefined ? 0 : compare(one, other);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
