// Lists the policies, shares and bindings, and the objects of every kind that carry Reeve's label.
import { KubeError } from '../base/kube-error.ts';
import { roleBindingType } from '../base/object-type.ts';
import { endOfGrant } from '../policy/terms/temporary-grant.ts';
import { apiVersion as ownVersion, managedByLabel, managedByReeve, temporaryLabel } from '../schema/names.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath, groupVersionPath } from '../kube/http/https-client.ts';
import { observeAccount, type ObservedAccount } from '../policy/plan/account.ts';
import { observeObject, type Observed } from '../policy/plan/observed.ts';
import { kinds, type ProviderKind } from '../api/kinds.ts';
import { providerKinds, type ProviderState } from '../policy/terms/provider-id.ts';
import { loadStored } from '../state/stored-provider.ts';
import { inParallel, listObjects } from './removal.ts';
import { ownMember, isJsonObject } from '../base/json.ts';
import { readdir } from 'node:fs/promises';
import type { KubeObject, ObjectRef } from '../base/metadata.ts';
import { readYamlFiles, readObjects } from '../state/yaml-files.ts';
import { shippedFolder } from '../app/shipped-files.ts';

export interface Facts {
  readonly providers: readonly ProviderState[];
  /** The metadata of labeled objects of any namespaced kind. */
  readonly marked: readonly Observed[];
  /** ServiceAccounts of other owners to which policies have added fields. */
  readonly accounts: readonly ObservedAccount[];
  /** The RoleBindings of temporary access. */
  readonly grants: readonly KubeObject[];
  /** Kinds that could not be listed, with the error: `pods.metrics.k8s.io (503 ServiceUnavailable)`. */
  readonly unseen: readonly string[];
}

const listsAtOnce = 8;

/** Rejects with a KubeError when the policies, shares and bindings cannot be listed. */
export async function readFacts(client: KubeClient): Promise<Facts> {
  const [providers, { resources, unseen }] = await Promise.all([
    Promise.all(providerKinds.map((kind) => providersOf(kind, client))),
    servedKinds(client),
  ]);
  const marked: Observed[] = [];
  const unlisted: string[] = [];
  const lists = await inParallel(resources, listsAtOnce, (resource) => markedOf(resource, client));
  for (const [index, found] of lists.entries()) {
    if (found instanceof KubeError)
      unlisted.push(`${nameOf(resources[index])} (${found.code} ${found.reason})`);
    else marked.push(...found);
  }
  const accounts = await accountsOf(client);
  if (accounts instanceof KubeError) unlisted.push(`serviceaccounts (${accounts.code} ${accounts.reason})`);
  const found = accounts instanceof KubeError ? [] : accounts;
  const grants = await grantsOf(client);
  if (grants instanceof KubeError) unlisted.push(`temporary access (${grants.code} ${grants.reason})`);
  return {
    providers: providers.flat(),
    marked,
    accounts: found,
    grants: grants instanceof KubeError ? [] : grants,
    unseen: [...unseen, ...unlisted],
  };
}

/** Throws an error of the program itself. */
async function orError<T>(work: () => Promise<T>): Promise<T | KubeError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KubeError) return error;
    throw error;
  }
}

async function accountsOf(client: KubeClient): Promise<readonly ObservedAccount[] | KubeError> {
  const target = { path: resourcePath({ apiVersion: 'v1', plural: 'serviceaccounts' }), keepsManagers: true };
  return await orError(async () => {
    const all = (await listObjects(client, target)).map((object) => observeAccount(object));
    return all.filter(({ managers }) => managers.length > 0);
  });
}

async function grantsOf(client: KubeClient): Promise<readonly KubeObject[] | KubeError> {
  const { apiVersion } = roleBindingType;
  const target = {
    path: resourcePath({ apiVersion, plural: 'rolebindings' }),
    labelSelector: `${temporaryLabel}=true`,
    metadataOnly: true,
  };
  return await orError(async () =>
    (await listObjects(client, target)).filter((object) => endOfGrant(object) !== undefined),
  );
}

/** Leaves the intents out, because an uninstall needs only the status of a binding. */
async function providersOf(kind: ProviderKind, client: KubeClient): Promise<readonly ProviderState[]> {
  const path = resourcePath({ apiVersion: ownVersion, plural: kinds[kind].plural });
  return (await listObjects(client, { path })).map((object) => loadStored(kind, object, undefined).state);
}

async function markedOf(
  { apiVersion, kind, plural }: ServedResource,
  client: KubeClient,
): Promise<readonly Observed[] | KubeError> {
  const target = {
    path: resourcePath({ apiVersion, plural }),
    labelSelector: `${managedByLabel}=${managedByReeve}`,
    // An uninstall must not read the content of Secrets.
    metadataOnly: true,
  };
  return await orError(async () => {
    const found = await listObjects(client, target);
    return found.map((object) => observeObject({ apiVersion, kind }, object));
  });
}

function nameOf(resource: ServedResource | undefined): string {
  const { apiVersion = '', plural = '' } = resource ?? {};
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? plural : `${plural}.${apiVersion.slice(0, slash)}`;
}

interface ServedResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

interface ServedKinds {
  readonly resources: readonly ServedResource[];
  /** Group versions whose server does not answer. */
  readonly unseen: readonly string[];
}

const neededVerbs = ['list', 'patch', 'delete'];

/**
 * Namespaced kinds that can be listed, patched and deleted, each once, in the version that its group prefers.
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
 */
async function servedKinds(client: KubeClient): Promise<ServedKinds> {
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

/** Returns the preferred version first. */
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
  // The list contains subresources too.
  if (typeof plural !== 'string' || typeof kind !== 'string' || plural.includes('/')) return undefined;
  if (ownMember(resource, 'namespaced') !== true) return undefined;
  return neededVerbs.every((verb) => verbs.includes(verb)) ? { apiVersion, kind, plural } : undefined;
}

function membersOf(value: unknown, key: string): readonly unknown[] {
  const members = ownMember(value, key);
  return Array.isArray(members) ? members : [];
}

// Reads from the shipped manifests what an install consists of, in the parts that an uninstall deletes one by one.

interface InstallPlace {
  readonly namespace: string;
}

export interface ShippedParts {
  /** The garbage collector deletes the webhook configurations after their owner. Without the owner no replica applies them again. */
  readonly hooksOwner: readonly ObjectRef[];
  readonly hooks: readonly ObjectRef[];
  readonly program: readonly ObjectRef[];
  /** All rights of the accounts of Reeve. The program needs them to answer reviews until it ends. */
  readonly rights: readonly ObjectRef[];
  /** The admission policies. While they are in force, only Reeve may write the objects that it provides. */
  readonly guards: readonly ObjectRef[];
  readonly definitions: readonly ObjectRef[];
  readonly rest: readonly ObjectRef[];
}

/** Folders of manifests/ that repeat objects of an install, or hold none. The ConfigMap of `argocd` belongs to Argo CD. */
const otherFolders: readonly string[] = ['samples', 'chart', 'overlays', 'argocd'];
const shippedNamespace = 'reeve-system';
const hooksOwnerName = 'reeve-webhook';
/** Secrets that the webhooks or an administrator create after the install. */
const madeSecrets = ['reeve-webhook-ca', 'reeve-webhook-tls'] as const;

export async function readShippedParts(place: InstallPlace): Promise<ShippedParts> {
  const entries = await readdir(shippedFolder('.'), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && !otherFolders.includes(entry.name));
  const read = await Promise.all(folders.map(({ name }) => readYamlFiles(shippedFolder(name))));
  const objects = read
    .flatMap(({ files }) => files.flatMap((file) => readObjects(file).objects))
    .flatMap(({ value }) => (isObject(value) ? [value] : []));
  return shippedParts(objects, place);
}

/** Contains each object once, although variants of the install share objects. Leaves out the namespaces. */
export function shippedParts(objects: readonly KubeObject[], { namespace }: InstallPlace): ShippedParts {
  const refs = objects.map((object) => refOf(object, namespace));
  const made = madeSecrets.map((name) => ({ apiVersion: 'v1', kind: 'Secret', namespace, name }));
  const unique = new Map([...refs, ...made].map((ref) => [JSON.stringify(ref), ref]));
  const parts = Map.groupBy(unique.values(), partOf);
  const part = (name: keyof ShippedParts): readonly ObjectRef[] => parts.get(name) ?? [];
  return {
    hooksOwner: part('hooksOwner'),
    hooks: part('hooks'),
    program: part('program'),
    rights: part('rights'),
    guards: part('guards'),
    definitions: part('definitions'),
    rest: part('rest'),
  };
}

function partOf({ kind, name }: ObjectRef): keyof ShippedParts | 'namespace' {
  switch (kind) {
    case 'ValidatingWebhookConfiguration':
    case 'MutatingWebhookConfiguration':
      return 'hooks';
    case 'ClusterRole':
      return name === hooksOwnerName ? 'hooksOwner' : 'rest';
    case 'Deployment':
      return 'program';
    case 'ClusterRoleBinding':
    case 'RoleBinding':
      return 'rights';
    case 'ValidatingAdmissionPolicyBinding':
    case 'ValidatingAdmissionPolicy':
      return 'guards';
    case 'CustomResourceDefinition':
      return 'definitions';
    case 'Namespace':
      return 'namespace';
    default:
      return 'rest';
  }
}

function refOf({ apiVersion = '', kind = '', metadata }: KubeObject, namespace: string): ObjectRef {
  const { name = '' } = metadata;
  const isInInstall = metadata.namespace === shippedNamespace;
  const place = isInInstall ? namespace : metadata.namespace;
  return { apiVersion, kind, ...(place === undefined ? {} : { namespace: place }), name };
}

function isObject(value: unknown): value is KubeObject {
  return isJsonObject(value) && isJsonObject(ownMember(value, 'metadata'));
}
