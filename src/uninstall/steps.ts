// The steps of an uninstall that need more than a deletion: webhook configurations, Pods, conditions and namespaces.
import type { ObjectRef, KubeObject } from '../base/kube-object.ts';
import {
  isNotFound,
  nameOfRef,
  remove,
  textOfError,
  type Removal,
  type Problems,
  inTime,
  inParallel,
  listObjects,
} from './removal.ts';
import { partOfLabel, partOfReeve, readyCondition } from '../schema/names.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import { openReportLabel, openReportType } from '../inspect/report/open-reports.ts';
import { ownMember } from '../base/json.ts';
import { nameOf } from '../base/metadata.ts';

export interface NamespaceSettings {
  readonly namespace: string;
  readonly sharedNamespace: readonly string[];
  readonly deleteShared: boolean;
}

const conditionsAtOnce = 16;
const namespaces = { apiVersion: 'v1', plural: 'namespaces' };

/** Empties each configuration first: while a finalizer of others keeps it, API servers would go on calling its webhooks. */
export async function removeHooks(refs: readonly ObjectRef[], removal: Removal): Promise<Problems> {
  const notEmptied = await inParallel(refs, refs.length, (ref) => empty(ref, removal));
  const problems = await remove(refs, removal);
  // A configuration that is deleted need not be empty.
  if (problems.length === 0) return [];
  return [...notEmptied.filter((problem) => problem !== undefined), ...problems];
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

/** Waits until the Pods of Reeve have ended: until then they answer API servers that go on asking, for which they need rights. */
export async function podsEnded(
  namespace: string,
  client: KubeClient,
  patienceMs: number,
): Promise<Problems> {
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

/** Deletes the Reports of the reconciler and of `reeve report --write`. */
export async function removeReports(client: KubeClient, removal: Removal): Promise<Problems> {
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

/** Removes the condition reeve.dev/Ready from each namespace: after an uninstall it would never change again. */
export async function removeConditions(client: KubeClient, say: (line: string) => void): Promise<Problems> {
  try {
    const all = await listObjects(client, { path: resourcePath(namespaces) });
    const problems = await inParallel(all.filter(hasCondition), conditionsAtOnce, (object) =>
      removeCondition(nameOf(object), client, say),
    );
    return problems.filter((problem) => problem !== undefined);
  } catch (error) {
    return [`Namespaces: ${textOfError(error)}`];
  }
}

function hasCondition({ status }: KubeObject): boolean {
  const conditions = ownMember(status, 'conditions');
  return Array.isArray(conditions) && conditions.some((each) => ownMember(each, 'type') === readyCondition);
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
      body: { status: { conditions: [{ type: readyCondition, $patch: 'delete' }] } },
    });
    say(`removed the condition ${readyCondition} from Namespace ${name}`);
    return undefined;
  } catch (error) {
    return isNotFound(error) ? undefined : `Namespace ${name}: ${textOfError(error)}`;
  }
}

/** Deletes the namespace of the install, and those with people's Secrets only if the caller wants that. */
export async function removeNamespaces(
  { namespace, sharedNamespace, deleteShared }: NamespaceSettings,
  removal: Removal,
): Promise<Problems> {
  const names = [namespace, ...(deleteShared ? sharedNamespace : [])];
  const problems = await Promise.all(names.map((name) => removeNamespace(name, removal)));
  if (!deleteShared) {
    for (const name of sharedNamespace)
      removal.say(`kept Namespace ${name}, if it exists, with the Secrets in it`);
  }
  return problems.flat();
}

/** Keeps a namespace without the label of the install: it existed before Reeve, or serves other programs too. */
async function removeNamespace(name: string, removal: Removal): Promise<Problems> {
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
