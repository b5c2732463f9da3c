// Builds the paths of the API server: of a group version, a collection, an object or a subresource.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris

export interface ResourceAddress {
  readonly apiVersion: string;
  readonly plural: string;
  /** Undefined for cluster-scoped objects, and for a collection over all namespaces. */
  readonly namespace?: string | undefined;
  /** Undefined for a collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** Returns `/api/v1` or `/apis/rbac.authorization.k8s.io/v1`. */
export function groupVersionPath(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1
    ? `/api/${encodeSegment(apiVersion)}`
    : `/apis/${encodeSegment(apiVersion.slice(0, slash))}/${encodeSegment(apiVersion.slice(slash + 1))}`;
}

export function resourcePath({ apiVersion, plural, namespace, name, subresource }: ResourceAddress): string {
  const scope = namespace === undefined ? [] : ['namespaces', namespace];
  const rest = [name, subresource].filter((segment) => segment !== undefined);
  return [groupVersionPath(apiVersion), ...[...scope, plural, ...rest].map(encodeSegment)].join('/');
}

/** A segment of dots would address another path, and an empty one the collection, so both are encoded. */
function encodeSegment(segment: string): string {
  if (segment === '') return '%20';
  return /^\.+$/.test(segment) ? segment.replaceAll('.', '%2E') : encodeURIComponent(segment);
}
