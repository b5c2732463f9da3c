// Which namespaced kinds the cluster serves that can be listed and changed: in any of them, objects may carry the mark.
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
import { ownMember } from '../base/json.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { groupVersionPath } from '../kube/http/resource-paths.ts';

export interface ServedResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

export interface ServedKinds {
  readonly resources: readonly ServedResource[];
  /** Groups of which nothing is said, because whoever serves them does not answer. */
  readonly unseen: readonly string[];
}

const neededVerbs = ['list', 'patch', 'delete'];

/** Each kind of a group once, in the version that the group prefers of those that have it. */
export async function servedKinds(client: KubeClient): Promise<ServedKinds> {
  const groups = membersOf(await client.request({ method: 'GET', path: '/apis' }), 'groups');
  const versions = ['v1', ...groups.flatMap(versionsOf)];
  const resources = new Map<string, ServedResource>();
  const unseen: string[] = [];
  const answers = await Promise.all(versions.map((version) => resourcesOf(client, version)));
  for (const [index, answer] of answers.entries()) {
    const version = versions[index] ?? '';
    if (answer instanceof KubeError) unseen.push(`${version} (${answer.code} ${answer.reason})`);
    else for (const each of answer) keep(resources, each);
  }
  return { resources: [...resources.values()], unseen };
}

function keep(resources: Map<string, ServedResource>, resource: ServedResource): void {
  const slash = resource.apiVersion.indexOf('/');
  const key = `${resource.apiVersion.slice(0, Math.max(slash, 0))}/${resource.plural}`;
  if (!resources.has(key)) resources.set(key, resource);
}

/** The preferred one first. */
function versionsOf(group: unknown): readonly string[] {
  const preferred = ownMember(ownMember(group, 'preferredVersion'), 'groupVersion');
  const all = membersOf(group, 'versions').map((version) => ownMember(version, 'groupVersion'));
  return [...new Set([preferred, ...all])].filter((version) => typeof version === 'string');
}

async function resourcesOf(
  client: KubeClient,
  apiVersion: string,
): Promise<readonly ServedResource[] | KubeError> {
  try {
    const list = await client.request({ method: 'GET', path: groupVersionPath(apiVersion) });
    return membersOf(list, 'resources').flatMap((resource) => servedResource(apiVersion, resource) ?? []);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return error.code === 404 ? [] : error;
  }
}

function servedResource(apiVersion: string, resource: unknown): ServedResource | undefined {
  const plural = ownMember(resource, 'name');
  const kind = ownMember(resource, 'kind');
  const verbs = membersOf(resource, 'verbs');
  // Subresources stand in the same list.
  if (typeof plural !== 'string' || typeof kind !== 'string' || plural.includes('/')) return undefined;
  if (ownMember(resource, 'namespaced') !== true) return undefined;
  return neededVerbs.every((verb) => verbs.includes(verb)) ? { apiVersion, kind, plural } : undefined;
}

function membersOf(value: unknown, key: string): readonly unknown[] {
  const members = ownMember(value, key);
  return Array.isArray(members) ? members : [];
}
