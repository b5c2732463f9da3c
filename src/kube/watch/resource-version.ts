// Compares two versions of what the API server holds.

/**
 * Versions are whole numbers that grow. After etcd was restored from a backup they begin again lower down, and a watch
 * from a version that is still to come says nothing of what happens until then.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
export function isOlder(version: string, than: string): boolean {
  if (!isNumber(version) || !isNumber(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}

function isNumber(version: string): boolean {
  return /^[1-9][0-9]*$/.test(version);
}
