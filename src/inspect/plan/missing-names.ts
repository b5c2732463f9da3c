// Finds a name of --only or --delete that neither the state nor the files have. Otherwise, a misspelled name would look like a
// plan without changes.
import { apiVersion } from '../../schema/names.ts';
import { type KubeObject, type ObjectRef, nameOf } from '../../base/metadata.ts';
import { nearestWord } from '../../base/nearest.ts';
import type { ObjectType } from '../../policy/terms/object-key.ts';
import { providerId, providerKinds } from '../../policy/terms/provider-id.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { namespaceType } from '../input/loaded-state.ts';
import type { PlanScope } from './plan-scope.ts';

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
