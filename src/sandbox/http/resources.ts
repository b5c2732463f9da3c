// Serves requests about kinds: stored objects and reviews. Answers 501 for kinds that only a cluster has.
import type { IncomingMessage } from 'node:http';
import { isJsonObject } from '../../base/json.ts';
import { badRequestError, groupResource, notServedError, type ApiError } from '../api-error.ts';
import type { ServeObjects } from '../objects.ts';
import type { ObjectRequest, Verb } from '../request.ts';
import type { ServedSubresource } from '../resource.ts';
import { readRequestBody } from './body.ts';
import { ofOne, verbsOf, type DiscoveredKind, type ServedApi } from './discovery.ts';
import { type Reply, acceptedForm } from './reply.ts';
import { methodNotAllowedError, noSuchPathError, type ObjectPath } from './target.ts';
import { replyOf } from './views.ts';

export interface ObjectPorts extends ServedApi {
  readonly serveObjects: ServeObjects;
}

interface Incoming extends Pick<ObjectRequest, 'user' | 'query' | 'warn' | 'signal'> {
  readonly request: IncomingMessage;
  readonly verb: string;
  readonly place: ObjectPath;
}

export async function resourceReply(incoming: Incoming, ports: ObjectPorts): Promise<Reply> {
  const { request, place, user, query, warn, signal } = incoming;
  const { version, group, resource: plural, namespace, name } = place;
  const review = ports.reviews.find(
    (kind) => kind.group === group && kind.version === version && kind.plural === plural,
  );
  const kind = review ?? ports.kinds.find(group, version, plural);
  if (kind === undefined) throw unserved(place);
  const subresource = partOf(kind, place);
  const verb = servedVerb(kind, subresource, incoming);
  const metadata = verb === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  const form = acceptedForm(request.headers.accept, ['Table', metadata]);
  const { body, patchType } = await readRequestBody(request, verb, 'isCustom' in kind && kind.isCustom);
  if ('answer' in kind) {
    if (!isJsonObject(body)) throw badRequestError(`the object provided is no ${kind.kind}`);
    return { kind: 'json', code: 201, body: kind.answer(user, body, namespace) };
  }
  // `kubectl/v1.32.4 (linux/amd64)` → `kubectl`
  const [agent = ''] = (request.headers['user-agent'] ?? '').slice(0, 128).split('/');
  const asked = { user, verb, resource: kind, subresource, namespace, name, query, agent, warn, signal };
  const answer = await ports.serveObjects({ ...asked, body, patchType });
  return replyOf(answer, { resource: kind, form, included: query.get('includeObject') ?? 'Metadata' });
}

function partOf(
  { subresources = [] }: DiscoveredKind,
  { subresource }: ObjectPath,
): ServedSubresource | undefined {
  const part = subresources.find((known) => known === subresource);
  if (part !== subresource) throw noSuchPathError();
  return part;
}

function servedVerb(
  kind: DiscoveredKind,
  part: ServedSubresource | undefined,
  { verb, place }: Incoming,
): Verb {
  const { namespace, name } = place;
  const isOverAll = kind.isNamespaced && namespace === undefined;
  const isElsewhere = isOverAll ? name !== undefined : kind.isNamespaced !== (namespace !== undefined);
  if (isElsewhere) throw noSuchPathError();
  const served = verbsOf(kind, part).find((known) => known === verb);
  const isOfOne = part !== undefined || ofOne.some((known) => known === verb);
  const isMisplaced = isOfOne !== (name !== undefined) || (isOverAll && !/^(list|watch)$/.test(verb));
  if (served === undefined || isMisplaced) throw methodNotAllowedError();
  return served;
}

/** Core kinds that the sandbox does not serve. */
const otherOfCore = /^(endpoints|nodes|persistentvolume(claim)?s|pods|replicationcontrollers|services)$/;
const groupsOfKubernetes = /^(apps|autoscaling|batch|policy|[a-z.]+\.k8s\.io)$/;

/** 501 for a kind of Kubernetes that the sandbox does not serve, 404 for an unknown kind. */
function unserved({ group, resource: plural }: ObjectPath): ApiError {
  const isKnown = group === '' ? otherOfCore.test(plural) : groupsOfKubernetes.test(group);
  return isKnown ? notServedError(groupResource({ group, plural })) : noSuchPathError();
}
