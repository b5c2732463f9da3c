// Where the API server keeps what: the path of a group, a collection, an object or a part of one.
//
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris

export interface ResourceAddress {
  readonly apiVersion: string;
  readonly plural: string;
  /** Left out for cluster-scoped objects, and for a collection over all namespaces. */
  readonly namespace?: string | undefined;
  /** Left out for a collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** `/api/v1`, `/apis/rbac.authorization.k8s.io/v1`. */
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

/** A segment of dots alone would lead elsewhere, and an empty one to the collection: neither is a name of anything. */
function encodeSegment(segment: string): string {
  if (segment === '') return '%20';
  return /^\.+$/.test(segment) ? segment.replaceAll('.', '%2E') : encodeURIComponent(segment);
}
