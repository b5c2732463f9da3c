// Reads the body of a write as an object of the kind in the path, and checks its fields.
import { isJsonObject, ownMember } from '../../base/json.ts';
import type { KubeObject, ObjectMeta } from '../../base/kube-object.ts';
import { badRequestError } from '../api-error.ts';
import { unknownFields } from '../kinds/unknown-fields.ts';
import type { ObjectRequest } from '../request.ts';
import { apiVersionOf } from '../resource.ts';

/** Throws an ApiError of 400. */
export function submittedObject(request: ObjectRequest, body: unknown = request.body): KubeObject {
  const { resource, namespace } = request;
  if (!isJsonObject(body)) throw badRequestError('the body of the request is no object');
  if (resource.isCustom && (body['kind'] === undefined || body['apiVersion'] === undefined)) {
    throw badRequestError('the object of the request says neither its apiVersion nor its kind');
  }
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  const given = { apiVersion: body['apiVersion'] ?? type.apiVersion, kind: body['kind'] ?? type.kind };
  if (given.apiVersion !== type.apiVersion || given.kind !== type.kind) {
    throw badRequestError(
      `the object of the request is no ${type.kind} of ${type.apiVersion}, as its path says`,
    );
  }
  checkFields(request, body);
  const metadata = inNamespace(metadataOf(body['metadata'] ?? {}), namespace);
  return { ...body, ...type, metadata };
}

function inNamespace(
  { namespace: given, ...metadata }: ObjectMeta,
  namespace: string | undefined,
): ObjectMeta {
  // A cluster-scoped object has no namespace, even when the body has one.
  if (given !== undefined && namespace !== undefined && given !== namespace) {
    throw badRequestError(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  return namespace === undefined ? metadata : { ...metadata, namespace };
}

/** Checks the metadata that the rest of the program reads without checks. */
function metadataOf(value: unknown): ObjectMeta {
  const problem = metadataProblem(value);
  if (problem !== undefined)
    throw badRequestError(`metadata${problem} has another form than Kubernetes knows`);
  const members = Object.entries(value ?? {});
  // An empty text counts as missing.
  return Object.fromEntries(members.filter(([, member]) => member !== '' && member !== null));
}

const texts = ['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'deletionTimestamp'];

function metadataProblem(value: unknown): string | undefined {
  if (!isJsonObject(value)) return '';
  const text = texts.find((key) => !isTextOrNothing(ownMember(value, key)));
  if (text !== undefined) return `.${text}`;
  const map = ['labels', 'annotations'].find((key) => !isTextMap(ownMember(value, key) ?? {}));
  if (map !== undefined) return `.${map}`;
  const list = ['finalizers', 'ownerReferences', 'managedFields'].find((key) => !isList(value, key));
  return list === undefined ? undefined : `.${list}`;
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function isTextMap(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((member) => typeof member === 'string');
}

function isList(metadata: object, key: string): boolean {
  const list = ownMember(metadata, key) ?? [];
  const isItem = key === 'finalizers' ? (item: unknown) => typeof item === 'string' : isJsonObject;
  return Array.isArray(list) && list.every(isItem);
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation */
function checkFields({ resource, query, warn }: ObjectRequest, body: object): void {
  const level = query.get('fieldValidation') ?? 'Warn';
  if (level === 'Ignore') return;
  const unknown = unknownFields(resource, body).map(({ path, similar }) => {
    return { text: `unknown field ${JSON.stringify(path)}`, similar };
  });
  if (unknown.length === 0) return;
  if (level === 'Strict') {
    const list = unknown.map(({ text }) => text).join(', ');
    throw badRequestError(`strict decoding error: ${list}${hint(unknown)}`);
  }
  for (const each of unknown) warn(`${each.text}${hint([each])}`);
}

/** The hint stands after the words of the API server, which suggests no name. */
function hint(unknown: readonly { readonly similar: string | undefined }[]): string {
  const similar = unknown.flatMap((each) => each.similar ?? []);
  return similar.length === 0 ? '' : ` (did you mean ${similar.join(', ')}?)`;
}
