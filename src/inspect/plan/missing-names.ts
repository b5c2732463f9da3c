// Finds a name of --only that neither the state nor the files have. Otherwise, a misspelled name would look like a plan
// without changes.
import { apiVersion } from '../../api/names.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { nameOf } from '../../base/metadata.ts';
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
  return (
    missing('namespace ', namespaces, () => found(namespaceType).map(nameOf)) ??
    missing('', providers, () =>
      providerKinds.flatMap((kind) =>
        found({ apiVersion, kind }).map((each) => providerId(kind, nameOf(each), each.metadata.namespace)),
      ),
    )
  );
}

function missing(word: string, named: ReadonlySet<string>, all: () => readonly string[]): string | undefined {
  if (named.size === 0) return undefined;
  const known = new Set(all());
  const unknown = [...named].find((name) => !known.has(name));
  if (unknown === undefined) return undefined;
  const near = nearestWord(unknown, known);
  return `--only: there is no ${word}${unknown}${near === undefined ? '' : `; did you mean ${near}?`}`;
}
