// Describes the served kinds as OpenAPI v3, one document per group and version, for `kubectl explain`.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
import { createHash } from 'node:crypto';
import { toOpenApi, type OpenApi } from '../../schema/openapi.ts';
import { isJsonObject, ownMember, type JsonObject } from '../../base/json.ts';
import { apiVersionOf, memoized, type Kinds, type Resource } from '../resource.ts';
import type { Reply } from './reply.ts';

// Describes metadata, which all kinds share, for `kubectl explain`.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/

const metaHome = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const objectMetaName = `${metaHome}.ObjectMeta`;

const string = { type: 'string' };
const time = { type: 'string', format: 'date-time' };
const integer = { type: 'integer', format: 'int64' };
const boolean = { type: 'boolean' };
const texts = { type: 'array', items: string };
const textMap = { type: 'object', additionalProperties: string };

function reference(name: string): JsonObject {
  return { allOf: [{ $ref: `#/components/schemas/${metaHome}.${name}` }] };
}

type Field = readonly [schema: JsonObject, description: string];

function object(
  description: string,
  fields: Readonly<Record<string, Field>>,
  required?: readonly string[],
): JsonObject {
  const properties = Object.entries(fields).map(([name, [schema, text]]) => [
    name,
    { ...schema, description: text },
  ]);
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(properties),
    ...(required && { required }),
  };
}

const ownerReference = object(
  'An object that owns this one. Kubernetes deletes this object after all its owners are deleted.',
  {
    apiVersion: [string, 'The group and version of the owner.'],
    blockOwnerDeletion: [boolean, 'The owner stays until this object is deleted (foreground deletion).'],
    controller: [boolean, 'The owner is the controller of this object.'],
    kind: [string, 'The kind of the owner.'],
    name: [string, 'The name of the owner.'],
    uid: [string, 'The UID of the owner.'],
  },
  ['apiVersion', 'kind', 'name', 'uid'],
);

const managedFields = object('The fields that one manager set last.', {
  apiVersion: [string, 'The version of the kind in which the fields are written.'],
  fieldsType: [string, 'The format of fieldsV1: "FieldsV1".'],
  fieldsV1: [reference('FieldsV1'), 'The fields, as a tree.'],
  manager: [string, 'The name of the manager.'],
  operation: [string, 'Apply for server-side apply, Update for every other write.'],
  subresource: [string, 'The subresource of the write; empty for the object itself.'],
  time: [time, 'When the manager last changed its fields.'],
});

const objectMeta = object('The metadata of an object.', {
  annotations: [textMap, 'Data of tools and people. No selector reads it.'],
  creationTimestamp: [time, 'When the object was created. The server sets it.'],
  deletionGracePeriodSeconds: [integer, 'Seconds until the object may be removed. The server sets it.'],
  deletionTimestamp: [time, 'When the object was deleted. It stays until its finalizers are removed.'],
  finalizers: [texts, 'What must be finished before the object is removed after its deletion.'],
  generateName: [string, 'A prefix. Without a name, the server creates one from it.'],
  generation: [integer, 'Counts the changes of the wanted state. The server sets it.'],
  labels: [textMap, 'Keys and values for selectors.'],
  managedFields: [
    { type: 'array', items: reference('ManagedFieldsEntry') },
    'Who set which fields. The server keeps it for server-side apply.',
  ],
  name: [string, 'The name, unique among objects of one kind in one namespace. It cannot be changed.'],
  namespace: [string, 'The namespace of the object; empty for cluster-scoped kinds.'],
  ownerReferences: [{ type: 'array', items: reference('OwnerReference') }, 'The objects that own this one.'],
  resourceVersion: [string, 'Changes with every write. An update that sends an old one is refused.'],
  selfLink: [string, 'No longer set by servers.'],
  uid: [string, 'Identifies the object for ever. The server sets it.'],
});

const metaSchemas: Readonly<Record<string, JsonObject>> = {
  [objectMetaName]: objectMeta,
  [`${metaHome}.OwnerReference`]: ownerReference,
  [`${metaHome}.ManagedFieldsEntry`]: managedFields,
  [`${metaHome}.FieldsV1`]: { type: 'object', description: 'A set of fields, as a tree in JSON.' },
};

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
