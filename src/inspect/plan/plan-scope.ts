// Reads the names of --only and --delete: namespaces, providers and intents.
import { isNamespaceName, isSubdomain } from '../../schema/kubernetes-names.ts';
import { apiVersion } from '../../schema/names.ts';
import { type ObjectRef, type KubeObject, nameOf } from '../../base/metadata.ts';
import { providerRef, type ObjectType, providerId, providerKinds } from '../../policy/terms/provider-id.ts';
import { intentWords, providerNamed } from '../input/object-names.ts';
import { nearestWord } from '../../base/nearest.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { namespaceType } from '../input/loaded-state.ts';

export interface PlanScope {
  /** Names of namespaces. Empty: all. */
  readonly namespaces: ReadonlySet<string>;
  /** Ids of providers. Empty: all. */
  readonly providers: ReadonlySet<string>;
}

/** Returns the problem if a name cannot be read. */
export function planScopeOf(only: readonly string[]): PlanScope | string {
  const namespaces = new Set<string>();
  const providers = new Set<string>();
  for (const text of only) {
    const [, namespace] = /^(?:ns|namespace|namespaces)\/(.+)$/.exec(text) ?? [];
    if (namespace !== undefined && isNamespaceName(namespace)) namespaces.add(namespace);
    else {
      const provider = providerNamed(text, undefined);
      if (!provider.ok) return `--only: ${provider.problem}; a namespace is ns/NAME`;
      providers.add(provider.id);
    }
  }
  return { namespaces, providers };
}

/** Returns the problem if a name cannot be read. */
export function deletedRefs(names: readonly string[]): readonly ObjectRef[] | string {
  const refs: ObjectRef[] = [];
  for (const text of names) {
    const [word = '', name = '', ...rest] = text.split('/');
    const provider = providerNamed(text, undefined);
    if (intentWords.has(word.toLowerCase()) && isSubdomain(name) && rest.length === 0)
      refs.push({ apiVersion, kind: 'SecurityIntent', name });
    else if (provider.ok) refs.push(providerRef(provider.id));
    else return `--delete: ${provider.problem}`;
  }
  return refs;
}

// Finds a name of --only or --delete that neither the state nor the files have. Otherwise, a misspelled name would look like a
// plan without changes.

export function missingOf(
  { namespaces, providers }: PlanScope,
  base: ClusterState,
  files: readonly KubeObject[],
): string | undefined {
  const found = ({ apiVersion: version, kind: type }: ObjectType) => [
    ...base.objects({ apiVersion: version, kind: type }),
    ...files.filter((object) => object.apiVersion === version && object.kind === type),
  ];
  const isUnread = (id: string) => base.unread.some(({ kind }) => id.startsWith(`${kind}/`));
  return (
    missing('--only', 'namespace ', namespaces, () => found(namespaceType).map(nameOf)) ??
    // A provider of a kind that could not be read may exist.
    missing('--only', '', new Set([...providers].filter((id) => !isUnread(id))), () =>
      providerKinds.flatMap((kind) =>
        found({ apiVersion, kind }).map((each) => providerId(kind, nameOf(each), each.metadata.namespace)),
      ),
    )
  );
}

interface NotStored {
  readonly problem: string;
  /** True if the object may exist. */
  readonly isUnread: boolean;
}

/** Returns the stored objects with these names, or the problem. */
export function storedObjects(
  refs: readonly ObjectRef[],
  base: ClusterState,
): readonly KubeObject[] | NotStored {
  const found: KubeObject[] = [];
  for (const ref of refs) {
    const { namespace = '', name } = ref;
    const stored = base.find(ref, namespace, name);
    if (stored === undefined) {
      const unread = base.unread.find(({ kind }) => kind === ref.kind);
      if (unread !== undefined)
        return { problem: `--delete: ${unread.kind} could not be read: ${unread.reason}`, isUnread: true };
      const known = () =>
        base.objects(ref).map((each) => textOf(ref.kind, nameOf(each), each.metadata.namespace));
      const problem = missing('--delete', '', new Set([textOf(ref.kind, name, ref.namespace)]), known) ?? '';
      return { problem, isUnread: false };
    }
    found.push(stored);
  }
  return found;
}

function textOf(kind: string, name: string, namespace: string | undefined): string {
  return [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');
}

function missing(
  flag: string,
  word: string,
  named: ReadonlySet<string>,
  all: () => readonly string[],
): string | undefined {
  if (named.size === 0) return undefined;
  const known = new Set(all());
  const unknown = [...named].find((name) => !known.has(name));
  if (unknown === undefined) return undefined;
  const near = nearestWord(unknown, known);
  return `${flag}: there is no ${word}${unknown}${near === undefined ? '' : `; did you mean ${near}?`}`;
}
