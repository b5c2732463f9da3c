// Serves the documents that are not about objects: version, probes, OpenAPI and discovery.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
import type { JsonObject } from '../../base/json.ts';
import type { ReviewKind } from '../access/reviews.ts';
import { type Verb, apiVersionOf, type Kinds } from '../resource.ts';
import type { UnstoredKind } from '../kinds/unstored-kinds.ts';
import { openApiReply } from './openapi.ts';
import { type Reply, acceptedForm } from './reply.ts';
import { methodNotAllowedError, noSuchPathError, type RequestTarget } from './target.ts';

export interface ServedApi {
  readonly kinds: Kinds;
  readonly reviews: readonly ReviewKind[];
  readonly unstored: readonly UnstoredKind[];
}

/** Clients compare the numbers with their own version and warn when they are far apart. */
const versionInfo = { major: '1', minor: '36', gitVersion: 'v1.36.0-reeve-sandbox', platform: 'sandbox' };

const aggregatedKind = 'APIGroupDiscoveryList';

export function documentReply(
  { path, query, verb }: RequestTarget,
  accept: string | undefined,
  api: ServedApi,
): Reply {
  if (verb !== 'get') throw methodNotAllowedError();
  if (/^\/(healthz|livez|readyz)$/.test(path)) return { kind: 'text', code: 200, text: 'ok' };
  // Clients ask for this document as protobuf, where zero bytes are an empty document. kubectl asks when it reads a List. It
  // leaves the check of fields to the server when the document lacks the kind.
  if (path === '/openapi/v2') return { kind: 'text', code: 200, text: '' };
  const isAggregated =
    acceptedForm(accept, /^\/apis?$/.test(path) ? [aggregatedKind] : []) === aggregatedKind;
  const openApi = openApiReply(path, query, api.kinds);
  if (openApi !== undefined) return openApi;
  const body = path === '/version' ? versionInfo : discoveryDocument(path, isAggregated, api);
  if (body === undefined) throw noSuchPathError();
  if (!isAggregated) return { kind: 'json', code: 200, body };
  const headers = { 'Content-Type': `application/json;g=apidiscovery.k8s.io;v=v2;as=${aggregatedKind}` };
  return { kind: 'json', code: 200, body, headers };
}

const ofMany: readonly Verb[] = ['create', 'list', 'watch', 'deletecollection'];
/** The verbs whose path names an object. */
export const ofOne: readonly Verb[] = ['get', 'update', 'patch', 'delete'];

/** Subresources with other verbs than `status` has. */
const verbsOfParts = new Map<string, readonly Verb[]>([
  ['finalize', ['update']],
  ['log', ['get']],
  ['proxy', ['create', ...ofOne]],
  ...['binding', 'eviction', 'token'].map((part) => [part, ['create']] as const),
  ...['attach', 'exec', 'portforward'].map((part) => [part, ['create', 'get']] as const),
]);

/** Reviews have no short names, categories and subresources. */
export interface DiscoveredKind
  extends
    Omit<ReviewKind, 'answer'>,
    Partial<Pick<UnstoredKind, 'shortNames' | 'categories' | 'subresources' | 'verbs'>> {}

/** Returns the verbs of a kind or of one of its subresources. */
export function verbsOf(
  { group, plural, subresources, verbs }: DiscoveredKind,
  part?: string,
): readonly Verb[] {
  if (part !== undefined) return verbsOfParts.get(part) ?? ['get', 'patch', 'update'];
  if (verbs !== undefined) return verbs;
  if (subresources === undefined) return ['create'];
  const all = [...ofMany, ...ofOne].toSorted();
  // Namespaces cannot be deleted as a collection.
  return group === '' && plural === 'namespaces' ? all.filter((verb) => verb !== 'deletecollection') : all;
}

/** Returns undefined when there is no such document. */
function discoveryDocument(path: string, isAggregated: boolean, api: ServedApi): JsonObject | undefined {
  const [, root, ...names] = path.split('/');
  if (root !== 'api' && root !== 'apis') return undefined;
  const all: readonly DiscoveredKind[] = [...api.kinds.all(), ...api.reviews, ...api.unstored];
  const served = all.filter(({ group }) => (group === '') === (root === 'api'));
  const groups = Map.groupBy(served, ({ group }) => group);
  if (names.length === 0) {
    if (isAggregated) return { ...aggregatedType, items: [...groups].map(aggregated) };
    if (root === 'api') return { kind: 'APIVersions', versions: ['v1'] };
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: [...groups].map(summary) };
  }
  const name = names.join('/');
  const kinds = served.filter((kind) => apiVersionOf(kind) === name);
  const resources = kinds.flatMap(listed);
  if (kinds.length > 0) return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: name, resources };
  const group = groups.get(name);
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...summary([name, group]) };
}

const aggregatedType = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' };

type Group = readonly [name: string, kinds: readonly DiscoveredKind[]];

function aggregated([name, kinds]: Group): JsonObject {
  const versions = [...Map.groupBy(kinds, ({ version }) => version)];
  const served = versions.map(([version, ofVersion]) => {
    return { version, resources: ofVersion.map(described), freshness: 'Current' };
  });
  return { metadata: { name }, versions: served };
}

function described(kind: DiscoveredKind): JsonObject {
  const { plural, singular, isNamespaced, shortNames, categories, subresources = [] } = kind;
  return {
    resource: plural,
    responseKind: answerOf(kind),
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: verbsOf(kind),
    shortNames,
    categories,
    subresources: subresources.map((subresource) => {
      return { subresource, responseKind: answerOf(kind, subresource), verbs: verbsOf(kind, subresource) };
    }),
  };
}

/** The older documents list subresources beside their kind. */
function listed(kind: DiscoveredKind): readonly JsonObject[] {
  const { plural: name, singular: singularName, isNamespaced: namespaced, subresources = [] } = kind;
  const { shortNames, categories } = kind;
  const parts = subresources.map((part) => {
    const rest = { ...answerOf(kind, part), verbs: verbsOf(kind, part) };
    return { name: `${name}/${part}`, singularName: '', namespaced, ...rest };
  });
  const own = {
    name,
    singularName,
    namespaced,
    kind: kind.kind,
    verbs: verbsOf(kind),
    shortNames,
    categories,
  };
  return [own, ...parts];
}

/** The kinds of subresources that do not answer with their object. */
const answersOfParts = new Map([
  ['binding', { group: '', version: 'v1', kind: 'Binding' }],
  ['eviction', { group: 'policy', version: 'v1', kind: 'Eviction' }],
  ['scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' }],
  ['token', { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }],
]);
const options = new Map([
  ['attach', 'AttachOptions'],
  ['exec', 'ExecOptions'],
  ['portforward', 'PortForwardOptions'],
  ['proxy', 'ProxyOptions'],
]);

function answerOf({ group, version, kind }: DiscoveredKind, part = ''): JsonObject {
  return answersOfParts.get(part) ?? { group, version, kind: `${kind}${options.get(part) ?? ''}` };
}

function summary([name, kinds]: Group): JsonObject {
  const versions = [...new Set(kinds.map(apiVersionOf))].map((groupVersion) => {
    return { groupVersion, version: groupVersion.slice(name.length + 1) };
  });
  return { name, versions, preferredVersion: versions[0] };
}
