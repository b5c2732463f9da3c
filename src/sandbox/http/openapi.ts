// Describes the served kinds as OpenAPI v3, one document per group and version, for `kubectl explain`.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
import { createHash } from 'node:crypto';
import { toOpenApi, type OpenApi } from '../../schema/openapi.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { apiVersionOf, memoized, type Kinds, type Resource } from '../resource.ts';
import { metaSchemas, objectMetaName } from './object-meta.ts';
import type { Reply } from './reply.ts';

const root = '/openapi/v3';
const info = { title: 'Reeve sandbox', version: '1.36' };

/** Returns undefined when there is no such document. */
export function openApiReply(path: string, query: URLSearchParams, kinds: Kinds): Reply | undefined {
  const groups = Map.groupBy(kinds.all(), homeOf);
  if (path === root) {
    const paths = [...groups].map(([home, members]) => [home, { serverRelativeURL: urlOf(home, members) }]);
    return { kind: 'json', code: 200, body: { paths: Object.fromEntries(paths) } };
  }
  const home = path.slice(root.length + 1);
  const members = path.startsWith(`${root}/`) ? groups.get(home) : undefined;
  if (members === undefined) return undefined;
  const asked = query.get('hash');
  const current = urlOf(home, members);
  const body = documentOf(members);
  if (asked === null) return { kind: 'json', code: 200, body };
  // As the API server: https://github.com/kubernetes/kube-openapi/blob/master/pkg/handler3/handler.go
  if (current !== `${root}/${home}?hash=${asked}`)
    return { kind: 'text', code: 301, text: '', headers: { Location: current } };
  const expires = new Date(Date.now() + 365 * 86_400_000).toUTCString();
  const headers = { 'Cache-Control': 'public, immutable', Vary: 'Accept', Expires: expires };
  return { kind: 'json', code: 200, body, headers };
}

/** `api/v1`, `apis/reeve.dev/v1alpha1` */
function homeOf(resource: Resource): string {
  return `${resource.group === '' ? 'api' : 'apis'}/${apiVersionOf(resource)}`;
}

/** Clients keep a document as long as its hash is the same. */
function urlOf(home: string, members: readonly Resource[]): string {
  const hash = hashOf([metaSchemas, ...members.map(fingerprintOf)]);
  return `${root}/${home}?hash=${hash.toUpperCase()}`;
}

/** kubectl asks for all hashes before every write. */
const fingerprintOf = memoized((resource: Resource) => hashOf([pathItem(resource), kindSchema(resource)]));

function hashOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function documentOf(members: readonly Resource[]): JsonObject {
  const schemas = { ...Object.fromEntries(members.map(kindSchema)), ...metaSchemas };
  return {
    openapi: '3.0.0',
    info,
    paths: Object.fromEntries(members.map(pathItem)),
    components: { schemas },
  };
}

/**
 * Holds what kubectl reads: the kind of a resource, and that the server checks the fields of a write.
 * The patch has no body: with one, kubectl would compute strategic merges from these schemas, which lack merge keys.
 */
function pathItem(resource: Resource): readonly [string, JsonObject] {
  const scope = resource.isNamespaced ? 'namespaces/{namespace}/' : '';
  const kind = { 'x-kubernetes-group-version-kind': gvkOf(resource), responses: {} };
  const parameter = { name: 'fieldValidation', in: 'query', schema: { type: 'string' } };
  return [
    `/${homeOf(resource)}/${scope}${resource.plural}/{name}`,
    { get: kind, patch: { ...kind, parameters: [parameter] } },
  ];
}

function gvkOf({ group, version, kind }: Resource): JsonObject {
  return { group, version, kind };
}

/** `dev.reeve.v1alpha1.SecretShare`, with the schema that its CustomResourceDefinition or the sandbox defines. */
function kindSchema(resource: Resource): readonly [string, JsonObject] {
  const { group, version, kind, schema } = resource;
  const defined: OpenApi = schema === undefined ? { type: 'object' } : toOpenApi(schema);
  const { apiVersion: _of, kind: _kind, metadata: _metadata, ...fields } = propertiesOf(defined);
  const name = [...(group || 'core.api.k8s.io').split('.').toReversed(), version, kind].join('.');
  const properties = { ...typeMeta, ...fields };
  return [name, { ...defined, properties, 'x-kubernetes-group-version-kind': [gvkOf(resource)] }];
}

function propertiesOf(schema: OpenApi): JsonObject {
  const properties = ownMember(schema, 'properties');
  return isJsonObject(properties) ? properties : {};
}

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** In the words of Kubernetes: https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#TypeMeta */
const typeMeta = {
  apiVersion: {
    type: 'string',
    description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
  },
  kind: {
    type: 'string',
    description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
  },
  metadata: {
    description: `Standard object's metadata. More info: ${conventions}#metadata`,
    allOf: [{ $ref: `#/components/schemas/${objectMetaName}` }],
  },
};
