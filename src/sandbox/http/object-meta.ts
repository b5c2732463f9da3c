// Describes metadata, which all kinds share, for `kubectl explain`.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
import type { JsonObject } from '../../base/json.ts';

const home = 'io.k8s.apimachinery.pkg.apis.meta.v1';
export const objectMetaName = `${home}.ObjectMeta`;

const string = { type: 'string' };
const time = { type: 'string', format: 'date-time' };
const integer = { type: 'integer', format: 'int64' };
const boolean = { type: 'boolean' };
const texts = { type: 'array', items: string };
const textMap = { type: 'object', additionalProperties: string };

function reference(name: string): JsonObject {
  return { allOf: [{ $ref: `#/components/schemas/${home}.${name}` }] };
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

export const metaSchemas: Readonly<Record<string, JsonObject>> = {
  [objectMetaName]: objectMeta,
  [`${home}.OwnerReference`]: ownerReference,
  [`${home}.ManagedFieldsEntry`]: managedFields,
  [`${home}.FieldsV1`]: { type: 'object', description: 'A set of fields, as a tree in JSON.' },
};
