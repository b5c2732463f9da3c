// Loads policies, shares, bindings and namespaces from files into one snapshot, with all problems of the files.
import { systemNamespaces } from '../schema/names.ts';
import { type ClusterSnapshot, PolicySet, ShareSet, withoutIntents } from '../policy/compile/snapshot.ts';
import type { FileProblem } from './file-problem.ts';
import { loadNamespaceFiles } from './namespace-files.ts';
import { loadPolicyFiles } from './policy-files.ts';
import type { KubeObject } from '../base/metadata.ts';

export interface ClusterSettings {
  readonly policies: string;
  readonly clusterState: string | undefined;
  /** The namespace of the install; no policy matches it. */
  readonly namespace: string;
  /** Namespaces of Secrets that may be shared; no policy matches them. */
  readonly sharedNamespace: readonly string[];
  readonly excludeNamespace: readonly string[];
}

export interface LoadedCluster {
  readonly snapshot: ClusterSnapshot;
  /** The number of policies. */
  readonly loaded: number;
  readonly shares: number;
  readonly refused: number;
  readonly namespaces: number;
  readonly problems: readonly FileProblem[];
}

/** Rejects with an UnreadablePathError when a path cannot be read at all. */
export async function loadCluster(settings: ClusterSettings): Promise<LoadedCluster> {
  const { policies, shares, bindings, intents, problems } = await loadPolicyFiles(settings.policies);
  const known =
    settings.clusterState === undefined
      ? { namespaces: [], problems: [] }
      : await loadNamespaceFiles(settings.clusterState);
  const excludedNamespaces = [
    ...systemNamespaces,
    settings.namespace,
    ...settings.sharedNamespace,
    ...settings.excludeNamespace,
  ];
  const set = new PolicySet(
    [...policies, ...bindings].map(({ compiled }) => compiled),
    { excludedNamespaces },
  );
  return {
    snapshot: {
      ...clusterSnapshot(set, new ShareSet(shares.map(({ compiled }) => compiled)), known.namespaces),
      intents,
    },
    loaded: policies.length,
    shares: shares.length,
    refused: refusedDocuments(problems),
    namespaces: known.namespaces.length,
    problems: [...problems, ...known.problems],
  };
}

/** An object can have many problems; a file that is not YAML counts for one. */
function refusedDocuments(problems: readonly FileProblem[]): number {
  return new Set(problems.map(({ file, document }) => `${file}#${document ?? 0}`)).size;
}

export function clusterSnapshot(
  policies: PolicySet,
  shares: ShareSet,
  namespaces: Iterable<KubeObject>,
): ClusterSnapshot {
  // A Map, because the name of a namespace may be `constructor`.
  const byName = new Map<string, KubeObject>();
  for (const namespace of namespaces) byName.set(namespace.metadata.name ?? '', namespace);
  return {
    policies,
    shares,
    providers: new Map(),
    intents: withoutIntents,
    isServed: () => true,
    namespace: (name) => byName.get(name),
    namespaces: () => byName.values(),
  };
}
