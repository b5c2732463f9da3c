// Defines what every write works with.
import type { KubeObject, ObjectMeta } from '../../base/metadata.ts';
import type { Access } from '../access/authorizer.ts';
import type { Admission } from '../admission/admission.ts';
import { type Kinds, type Resource, apiVersionOf, type ObjectRequest } from '../resource.ts';
import type { SandboxStore } from '../store.ts';
import { ownMember, type JsonObject, isJsonObject } from '../../base/json.ts';
import { invalidError, badRequestError } from '../api-error.ts';
import { unknownFields } from '../kinds/causes.ts';

export interface WriteContext {
  readonly store: SandboxStore;
  readonly kinds: Kinds;
  readonly admission: Admission;
  readonly authorizer: Access;
  readonly now: () => Date;
  readonly uid: () => string;
}

/** Returns the objects of the whole cluster, or of one namespace. */
export function allObjects(
  { store, kinds }: WriteContext,
  namespace?: string,
): readonly (readonly [Resource, KubeObject])[] {
  return kinds.all().flatMap((kind) => store.list(kind, namespace).map((object) => [kind, object] as const));
}

/** Returns whole seconds: https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#Time.MarshalJSON */
export function timestamp(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`;
}

// Reads and checks the options of a write, and shows them to webhooks.

const propagationPolicies: readonly unknown[] = ['Orphan', 'Background', 'Foreground', null];

/** Throws an ApiError of 422. */
export function assertOptions(request: ObjectRequest): void {
  const { query, patchType } = request;
  const wrong = {
    dryRun: dryRuns(request).some((value) => value !== 'All'),
    force: query.has('force') && patchType !== 'apply',
    propagationPolicy: !propagationPolicies.includes(propagationPolicyOf(request)),
  };
  const causes = Object.entries(wrong)
    .filter(([, isWrong]) => isWrong)
    .map(([field]) => ({ reason: 'FieldValueInvalid', message: 'Invalid value for this request', field }));
  if (causes.length > 0) throw invalidError({ group: 'meta.k8s.io', kind: 'Options' }, '', causes);
}

export function propagationPolicyOf(request: ObjectRequest): unknown {
  return request.query.get('propagationPolicy') ?? optionInBody(request, 'propagationPolicy') ?? null;
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run */
export function isDryRun(request: ObjectRequest): boolean {
  return dryRuns(request).length > 0;
}

function dryRuns(request: ObjectRequest): readonly unknown[] {
  return [request.query.getAll('dryRun'), optionInBody(request, 'dryRun') ?? []].flat();
}

/** The body of a DELETE holds only options. */
function optionInBody({ verb, body }: ObjectRequest, key: string): unknown {
  return verb.startsWith('delete') ? ownMember(body, key) : undefined;
}

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request */
export function optionsOf(
  request: ObjectRequest,
  kind: 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions',
): JsonObject {
  const texts = ['fieldManager', 'fieldValidation'].flatMap((key) => {
    const value = request.query.get(key);
    return value === null ? [] : [[key, value] as const];
  });
  const dryRun = isDryRun(request) ? { dryRun: ['All'] } : {};
  return { kind, apiVersion: 'meta.k8s.io/v1', ...dryRun, ...Object.fromEntries(texts) };
}

// Reads the body of a write as an object of the kind in the path, and checks its fields.

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
