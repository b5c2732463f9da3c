// Expands the short form of a request into the request that the API server would send to the webhooks.
import { mastersGroup } from '../../schema/names.ts';
import { judgedResources, type JudgedResource } from '../../admission/decode/decode-target.ts';
import { isJsonObject, ownMember, withMergePatch, type JsonObject } from '../../base/json.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { nearest } from '../../base/nearest.ts';
import type { Path } from '../../base/problem.ts';
import { clipped } from '../../base/text.ts';
import type { ObjectType } from '../../base/object-type.ts';
import type { Operation, Requester } from '../../rules/rule.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { askedUser, writtenRequest, type WriteSides } from '../input/judged-write.ts';
import { providerWords } from '../input/object-names.ts';
import type { SuiteRequest } from './suite.ts';

export interface Unanswerable {
  readonly ok: false;
  readonly path: Path;
  readonly expected: string;
  readonly found: string;
}

type BuiltRequest = { readonly ok: true; readonly request: JsonObject } | Unanswerable;

/** `reviews`: the AdmissionReviews in files, by path. */
export function requestOf(
  short: SuiteRequest,
  state: Pick<ClusterState, 'find'>,
  reviews: ReadonlyMap<string, unknown>,
): BuiltRequest {
  if (short.file !== undefined) return fullRequest(short, reviews);
  if (short.create !== undefined) return creation(short, short.create);
  const field = short.update === undefined ? 'delete' : 'update';
  const target = targetOf(short, field, state);
  if (!target.ok) return target;
  const { resource, before } = target;
  const after = field === 'delete' ? undefined : afterUpdate(short, before);
  return built(short, resource, { after, before });
}

/** Returns undefined for a test of a namespace, and for a request in a file. */
export function operationOf(short: SuiteRequest | undefined): Operation | undefined {
  if (short?.create !== undefined) return 'CREATE';
  if (short?.update !== undefined) return 'UPDATE';
  return short?.delete === undefined ? undefined : 'DELETE';
}

export function requesterOf({ as, groups = [] }: SuiteRequest): Requester {
  if (as === undefined) return askedUser('system:admin', [mastersGroup, ...groups]);
  const account = /^serviceaccount:([^/:]+)\/([^/:]+)$/.exec(as);
  if (account === null) return askedUser(as, groups);
  const [, namespace = '', name = ''] = account;
  return askedUser(`system:serviceaccount:${namespace}:${name}`, groups);
}

function fullRequest({ file = '' }: SuiteRequest, reviews: ReadonlyMap<string, unknown>): BuiltRequest {
  const request = ownMember(reviews.get(file), 'request');
  // The API server gives each request a uid.
  if (isJsonObject(request)) return { ok: true, request: { uid: 'reeve-test', ...request } };
  return wrong(['file'], 'an AdmissionReview with a request', `none in ${clipped(file)}`);
}

function creation(short: SuiteRequest, object: KubeObject): BuiltRequest {
  const resource = judgedResources.find((each) => isOfType(each, object));
  if (resource === undefined) {
    const { apiVersion = '', kind = '' } = object;
    return wrong(['create', 'kind'], kindsText(), clipped(`${apiVersion}/${kind}`));
  }
  return built(short, resource, { after: object, before: undefined });
}

type Target =
  { readonly ok: true; readonly resource: JudgedResource; readonly before: KubeObject } | Unanswerable;

/** Finds the object that `update` or `delete` names. */
function targetOf(
  { from, namespace, ...short }: SuiteRequest,
  field: 'update' | 'delete',
  state: Pick<ClusterState, 'find'>,
): Target {
  const text = short[field] ?? '';
  const [word = '', name = ''] = text.split('/', 2);
  const resource = resourceOf(word);
  if (resource === undefined) {
    const near = nearest(word.toLowerCase(), words(), 2);
    const hint = near === undefined ? '' : `; did you mean ${near}/${name}?`;
    return wrong([field], `${kindsText()}, each with /NAME`, `${clipped(text)}${hint}`);
  }
  const before = from ?? state.find(typeOf(resource), namespace ?? '', name);
  if (before !== undefined && nameOf(before) === name) return { ok: true, resource, before };
  const place = namespace === undefined ? '' : ` in namespace ${clipped(namespace)}`;
  const where = from === undefined ? `${place}, in the files of objects or policies` : ' in from';
  return wrong([field], `${resource.kind} ${clipped(name)}${where}`, 'nothing');
}

function wrong(path: Path, expected: string, found: string): Unanswerable {
  return { ok: false, path, expected, found };
}

/** Finds a resource by its kind, its plural or a short name. */
function resourceOf(word: string): JudgedResource | undefined {
  const given = word.toLowerCase();
  const kind = given === 'ns' ? 'Namespace' : providerWords.get(given);
  return judgedResources.find((each) =>
    [each.kind.toLowerCase(), each.resource].includes(kind?.toLowerCase() ?? given),
  );
}

function words(): readonly string[] {
  return [...judgedResources.map(({ kind }) => kind.toLowerCase()), 'policy', 'share'];
}

function kindsText(): string {
  return judgedResources.map(({ kind }) => kind).join(', ');
}

function typeOf({ group, version, kind }: JudgedResource): ObjectType {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

function isOfType(resource: JudgedResource, { apiVersion, kind }: KubeObject): boolean {
  const type = typeOf(resource);
  return type.apiVersion === apiVersion && type.kind === kind;
}

function afterUpdate({ set, to }: SuiteRequest, before: KubeObject): KubeObject {
  if (to === undefined) {
    const { metadata, ...rest } = withMergePatch(before, set ?? {});
    return { ...rest, metadata: isJsonObject(metadata) ? metadata : {} };
  }
  // An update keeps these fields of the stored object.
  const { uid, creationTimestamp } = before.metadata;
  const kept = {
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
  };
  return { ...to, metadata: { ...kept, ...to.metadata } };
}

function built(short: SuiteRequest, resource: JudgedResource, sides: WriteSides): BuiltRequest {
  const { namespace: place, dryRun } = short;
  const options = { ...(place !== undefined && { place }), ...(dryRun !== undefined && { dryRun }) };
  return { ok: true, request: writtenRequest(resource, sides, requesterOf(short), options) };
}
