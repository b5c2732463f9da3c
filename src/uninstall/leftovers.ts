// Checks after an uninstall what is left of Reeve: objects that could block requests, and notes.
import { ownMember } from '../base/json.ts';
import type { KubeObject, ObjectRef } from '../base/kube-object.ts';
import type { KubeClient } from '../kube/http/client.ts';
import type { ObjectWriter } from '../kube/object-writer.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import { nameOf } from '../base/metadata.ts';
import { reconcilerAccount } from '../app/install-roles.ts';
import { serviceAccountType } from '../policy/terms/object-key.ts';
import type { Facts } from './facts.ts';
import { nameOfRef, textOfError, inParallel, listObjects } from './removal.ts';

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
  { providers, marked, accounts: changed, unseen }: Facts,
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

/** Bindings that are not part of the install. A service account of the same name would get these rights. */
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
