// Serves what is not about objects: version, probes, discovery, and as much OpenAPI as kubectl asks for.
import type { JsonObject } from '../../base/json.ts';
import { apiVersionOf, type Kinds, type Resource } from '../resource.ts';
import { discoveryDocument, type ServedApi } from './discovery.ts';
import { type Reply, acceptedForm } from './reply.ts';
import { methodNotAllowedError, noSuchPathError, type RequestTarget } from './target.ts';

/** Clients read numbers from it, and complain about those that are far from their own. */
const version = { major: '1', minor: '36', gitVersion: 'v1.36.0-reeve-sandbox', platform: 'sandbox' };

const aggregated = 'APIGroupDiscoveryList';
const openApi = '/openapi/v3';

export function documentReply(
  { path, verb }: RequestTarget,
  accept: string | undefined,
  offer: ServedApi,
): Reply {
  if (verb !== 'get') throw methodNotAllowedError();
  if (/^\/(healthz|livez|readyz)$/.test(path)) return { kind: 'text', code: 200, text: 'ok' };
  // Clients want it as protobuf, where no bytes are a document that describes nothing; kubectl asks for it when it reads
  // a List, and leaves the checks of fields to the server where it finds no kind.
  if (path === '/openapi/v2') return { kind: 'text', code: 200, text: '' };
  const isAggregated = acceptedForm(accept, /^\/apis?$/.test(path) ? [aggregated] : []) === aggregated;
  const body =
    path === '/version'
      ? version
      : (openApiDocument(path, offer.kinds) ?? discoveryDocument(path, isAggregated, offer));
  if (body === undefined) throw noSuchPathError();
  if (!isAggregated) return { kind: 'json', code: 200, body };
  const headers = { 'Content-Type': `application/json;g=apidiscovery.k8s.io;v=v2;as=${aggregated}` };
  return { kind: 'json', code: 200, body, headers };
}

/**
 * What kubectl wants to know before it creates or applies: that the server checks the fields of each kind itself.
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
 */
function openApiDocument(path: string, kinds: Kinds): JsonObject | undefined {
  const documents = Map.groupBy(kinds.all(), homeOf);
  if (path === openApi) {
    const paths = [...documents.keys()].map((key) => [key, { serverRelativeURL: `${openApi}/${key}` }]);
    return { paths: Object.fromEntries(paths) };
  }
  const items = path.startsWith(openApi) ? documents.get(path.slice(openApi.length + 1)) : undefined;
  const info = { title: 'Reeve sandbox', version: '1.36' };
  return items && { openapi: '3.0.0', info, paths: Object.fromEntries(items.map(pathItem)) };
}

function homeOf(resource: Resource): string {
  return `${resource.group === '' ? 'api' : 'apis'}/${apiVersionOf(resource)}`;
}

/** Without a body: with one kubectl would compute strategic merges from our schemas, which say nothing. */
function pathItem(resource: Resource): readonly [string, JsonObject] {
  const { group, version: of, kind, plural } = resource;
  const parameter = { name: 'fieldValidation', in: 'query', schema: { type: 'string' } };
  const about = { 'x-kubernetes-group-version-kind': { group, version: of, kind } };
  return [
    `${homeOf(resource)}/${plural}/{name}`,
    { patch: { parameters: [parameter], responses: {}, ...about } },
  ];
}
