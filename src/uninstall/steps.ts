// The steps of an uninstall that need more than a deletion: webhook configurations, Pods, conditions and namespaces.
import { kinds } from '../api/kinds.ts';
import { type ObjectRef, type KubeObject, namespacedName, nameOf } from '../base/metadata.ts';
import { claimRef } from '../policy/terms/claim.ts';
import {
  isNotFound,
  nameOfRef,
  remove,
  textOfError,
  type Removal,
  type NotDone,
  inTime,
  inParallel,
  listObjects,
} from './removal.ts';
import {
  apiVersion as ownVersion,
  cleanupFinalizer,
  partOfLabel,
  ownConditions,
  partOfReeve,
  reconcilerAccount,
} from '../schema/names.ts';
import { withoutFinalizer } from './contents.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import { openReportLabel, openReportType } from '../inspect/report/open-reports.ts';
import { ownMember } from '../base/json.ts';
import { listed } from '../base/text.ts';
import type { ObjectWriter } from '../base/object-writer.ts';
import { roleBindingType, serviceAccountType } from '../base/object-type.ts';
import type { ContentsRemoval } from './contents.ts';
import type { Facts } from './facts.ts';

export interface NamespaceSettings {
  readonly namespace: string;
  readonly sharedNamespace: readonly string[];
  readonly deleteShared: boolean;
}

const conditionsAtOnce = 16;
const namespaces = { apiVersion: 'v1', plural: 'namespaces' };

/** Empties each configuration first. While a finalizer of others keeps it, API servers would still call its webhooks. */
export async function removeHooks(refs: readonly ObjectRef[], removal: Removal): Promise<NotDone> {
  const notEmptied = await inParallel(refs, refs.length, (ref) => empty(ref, removal));
  const notDone = await remove(refs, removal);
  // The rest is for configurations that still exist.
  if (notDone.length === 0) return [];
  return [...notEmptied.filter((each) => each !== undefined), ...notDone];
}

async function empty(ref: ObjectRef, { writer, say }: Removal): Promise<string | undefined> {
  try {
    await writer.mergePatch(ref, { webhooks: [] });
    say(`emptied ${nameOfRef(ref)}`);
    return undefined;
  } catch (error) {
    return isNotFound(error) ? undefined : `${nameOfRef(ref)} was not emptied: ${textOfError(error)}`;
  }
}

/** Waits until the Pods of Reeve have ended. Until then, API servers still ask them, and they need their rights to answer. */
export async function podsEnded(namespace: string, client: KubeClient, patienceMs: number): Promise<NotDone> {
  const target = {
    path: resourcePath({ apiVersion: 'v1', plural: 'pods', namespace }),
    labelSelector: `${partOfLabel}=${partOfReeve}`,
    metadataOnly: true,
  };
  const haveEnded = async (): Promise<boolean> => (await listObjects(client, target)).length === 0;
  try {
    return (await inTime(haveEnded, patienceMs)) ? [] : [`Pods of Reeve in ${namespace} have not ended yet`];
  } catch (error) {
    return [`Pods in ${namespace}: ${textOfError(error)}`];
  }
}

/** Deletes temporary access, because nothing would end it any more. With `keepContents`, it stays without an end. */
export async function removeGrants({ facts, keepContents, ...removal }: ContentsRemoval): Promise<NotDone> {
  if (keepContents) return [];
  try {
    const { grants } = await facts();
    return await remove(grants.map(grantRef), removal);
  } catch (error) {
    return [`temporary access could not be listed: ${textOfError(error)}`];
  }
}

function grantRef({ metadata: { namespace = '', name = '' } }: KubeObject): ObjectRef {
  return { ...roleBindingType, namespace, name };
}

/** Deletes the Reports of the reconciler and of `reeve report --write`. */
export async function removeReports(client: KubeClient, removal: Removal): Promise<NotDone> {
  const { apiVersion } = openReportType;
  const path = resourcePath({ apiVersion, plural: 'reports' });
  try {
    const labelSelector = `${openReportLabel}=true`;
    const reports = await listObjects(client, { path, labelSelector, metadataOnly: true });
    const refs = reports.map(({ metadata: { namespace = '', name = '' } }) => ({
      ...openReportType,
      namespace,
      name,
    }));
    return await remove(refs, removal);
  } catch (error) {
    return [`Reports: ${textOfError(error)}`];
  }
}

/** Takes our finalizer from claims, so that their definition can be deleted. Their Namespaces stay. */
export async function releaseClaims(client: KubeClient, { writer }: Removal): Promise<NotDone> {
  const path = resourcePath({ apiVersion: ownVersion, plural: kinds.NamespaceClaim.plural });
  try {
    const held = (await listObjects(client, { path })).filter(({ metadata }) =>
      JSON.stringify(metadata['finalizers'] ?? []).includes(cleanupFinalizer),
    );
    for (const claim of held)
      await writer.mergePatch(claimRef(namespacedName(claim)), withoutFinalizer(claim.metadata));
    return [];
  } catch (error) {
    return [`NamespaceClaims: ${textOfError(error)}`];
  }
}

/** Removes our conditions from each namespace, because they would never change again after an uninstall. */
export async function removeConditions(client: KubeClient, say: (line: string) => void): Promise<NotDone> {
  try {
    const all = await listObjects(client, { path: resourcePath(namespaces) });
    const notDone = await inParallel(all.filter(hasCondition), conditionsAtOnce, (object) =>
      removeCondition(nameOf(object), client, say),
    );
    return notDone.filter((each) => each !== undefined);
  } catch (error) {
    return [`Namespaces: ${textOfError(error)}`];
  }
}

function hasCondition({ status }: KubeObject): boolean {
  const conditions = ownMember(status, 'conditions');
  return (
    Array.isArray(conditions) &&
    conditions.some((each) => ownConditions.some((type) => ownMember(each, 'type') === type))
  );
}

async function removeCondition(
  name: string,
  client: KubeClient,
  say: (line: string) => void,
): Promise<string | undefined> {
  try {
    await client.request({
      method: 'PATCH',
      path: resourcePath({ ...namespaces, name, subresource: 'status' }),
      // Merges conditions by their type, so conditions that others write at the same time stay.
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: ownConditions.map((type) => ({ type, $patch: 'delete' })) } },
    });
    say(`removed the conditions ${listed(ownConditions)} from Namespace ${name}`);
    return undefined;
  } catch (error) {
    return isNotFound(error) ? undefined : `Namespace ${name}: ${textOfError(error)}`;
  }
}

/** Deletes the namespace of the install. Deletes namespaces with people's Secrets only if the caller wants that. */
export async function removeNamespaces(
  { namespace, sharedNamespace, deleteShared }: NamespaceSettings,
  removal: Removal,
): Promise<NotDone> {
  const names = [namespace, ...(deleteShared ? sharedNamespace : [])];
  const notDone = await Promise.all(names.map((name) => removeNamespace(name, removal)));
  if (!deleteShared) {
    for (const name of sharedNamespace)
      removal.say(`kept Namespace ${name}, if it exists, with the Secrets in it`);
  }
  return notDone.flat();
}

/** Keeps a namespace without the label of the install: it existed before Reeve, or serves other programs too. */
async function removeNamespace(name: string, removal: Removal): Promise<NotDone> {
  const { writer, say } = removal;
  const ref: ObjectRef = { apiVersion: 'v1', kind: 'Namespace', name };
  try {
    const object = await writer.read(ref);
    if (object === undefined) return [];
    if (ownMember(object.metadata.labels, partOfLabel) === partOfReeve) return await remove([ref], removal);
    say(`kept Namespace ${name}: it lacks the label ${partOfLabel}=${partOfReeve} of the install`);
    return [];
  } catch (error) {
    return [`Namespace ${name}: ${textOfError(error)}`];
  }
}

// Lists after an uninstall what is left of Reeve: objects that could block requests, and notes.

export interface Leftovers {
  /** Objects that should be deleted, or whose state is unknown. */
  readonly left: readonly string[];
  readonly notes: readonly string[];
}

interface Cluster {
  readonly client: KubeClient;
  readonly writer: ObjectWriter;
}

const atOnce = 8;

export async function findLeftovers(
  refs: readonly ObjectRef[],
  { providers, marked, accounts: changed, grants, unseen }: Facts,
  namespace: string,
  cluster: Cluster,
): Promise<Leftovers> {
  const found = await inParallel(refs, atOnce, (ref) => leftover(ref, cluster));
  const [others, ours] = partition(marked, ({ owner }) => owner === undefined);
  const [ending, staying] = partition(ours, ({ isTerminating }) => isTerminating);
  return {
    left: [
      ...found.filter((each) => each !== undefined),
      ...providers.map(({ id, hasFinalizer }) => (hasFinalizer ? `${id}, with the finalizer of Reeve` : id)),
      ...staying.map((live) => `${nameOfMarked(live)}, which carries the mark of Reeve`),
      ...changed.map((each) => `fields of policies on ${nameOfRef({ ...serviceAccountType, ...each })}`),
      ...unseen.map((kind) => `what there is of ${kind}: it could not be looked at`),
    ],
    notes: [
      ...ending.map((live) => `${nameOfMarked(live)} is being deleted, and waits for finalizers of others`),
      ...others.map(
        (live) =>
          `${nameOfMarked(live)} has the label of Reeve and names no policy, share or binding: left as it is`,
      ),
      ...grants.map(
        (each) => `${nameOfRef(grantRef(each))} gives temporary access, and nothing ends it any more`,
      ),
      ...(await bindingsOf(namespace, refs, cluster)),
    ],
  };
}

/** Returns the items that meet the condition, and the other items. */
function partition<T>(
  items: readonly T[],
  isTrue: (item: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  return [items.filter(isTrue), items.filter((item) => !isTrue(item))];
}

function nameOfMarked({ type, namespace, name }: Facts['marked'][number]): string {
  return nameOfRef({ ...type, namespace, name });
}

async function leftover(ref: ObjectRef, { writer }: Cluster): Promise<string | undefined> {
  try {
    return (await writer.read(ref)) === undefined ? undefined : nameOfRef(ref);
  } catch (error) {
    return `${nameOfRef(ref)}: ${textOfError(error)}`;
  }
}

/** Bindings outside of the install. A new service account of the same name would get their rights. */
async function bindingsOf(
  namespace: string,
  shipped: readonly ObjectRef[],
  { client }: Cluster,
): Promise<readonly string[]> {
  const ours = new Set(shipped.flatMap(({ kind, name }) => (kind === 'ClusterRoleBinding' ? [name] : [])));
  const path = resourcePath({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    plural: 'clusterrolebindings',
  });
  try {
    const all = await listObjects(client, { path });
    return all
      .filter((binding) => isOfAccountIn(namespace, binding) && !ours.has(nameOf(binding)))
      .map((binding) => `ClusterRoleBinding ${nameOf(binding)} is yours, and names an account of Reeve`);
  } catch (error) {
    return [`ClusterRoleBindings could not be looked at for accounts of Reeve: ${textOfError(error)}`];
  }
}

const accounts: readonly unknown[] = ['reeve-webhook', reconcilerAccount];

function isOfAccountIn(namespace: string, { subjects }: KubeObject): boolean {
  if (!Array.isArray(subjects)) return false;
  return subjects.some(
    (subject) =>
      ownMember(subject, 'kind') === 'ServiceAccount' &&
      ownMember(subject, 'namespace') === namespace &&
      accounts.includes(ownMember(subject, 'name')),
  );
}
