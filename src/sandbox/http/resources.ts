// Serves requests about kinds: stored objects and reviews. Answers 501 for kinds that only a cluster stores.
import type { IncomingMessage } from 'node:http';
import { isJsonObject } from '../../base/json.ts';
import { badRequestError, groupResource, notServedError } from '../api-error.ts';
import type { ServeObjects } from '../objects.ts';
import type { ObjectRequest, Verb } from '../resource.ts';
import { readRequestBody } from './body.ts';
import { ofOne, verbsOf, type DiscoveredKind, type ServedApi } from './discovery.ts';
import { type Reply, acceptedForm, replyOf } from './reply.ts';
import { methodNotAllowedError, noSuchPathError, type ObjectPath } from './target.ts';

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
  const isMeant = (one: DiscoveredKind): boolean =>
    one.group === group && one.version === version && one.plural === plural;
  const unstored = ports.unstored.find(isMeant);
  if (unstored !== undefined) {
    servedVerb(unstored, partOf(unstored.subresources, place), incoming);
    throw notServedError(groupResource(unstored));
  }
  const kind = ports.reviews.find(isMeant) ?? ports.kinds.find(group, version, plural);
  if (kind === undefined) throw noSuchPathError();
  const subresource = partOf('answer' in kind ? [] : kind.subresources, place);
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

function partOf<Part extends string>(
  subresources: readonly Part[],
  { subresource }: ObjectPath,
): Part | undefined {
  const part = subresources.find((known) => known === subresource);
  if (part !== subresource) throw noSuchPathError();
  return part;
}

/** Throws when the path or the method does not fit the kind. */
function servedVerb(kind: DiscoveredKind, part: string | undefined, { verb, place }: Incoming): Verb {
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
