// Keeps the engine's view of the cluster up to date: the watches of policies, shares and Namespaces.
import { apiVersion, systemNamespaces } from '../api/names.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import { LiveCluster } from '../state/live-cluster.ts';
import type { Watches } from './watches.ts';

export interface InstallSettings {
  /** Where Reeve itself is installed: never matched. */
  readonly namespace: string;
  /** Where the Secrets are that may be shared: never matched either. */
  readonly sharedNamespace: readonly string[];
  readonly excludeNamespace: readonly string[];
}

export function excludedNamespaces(settings: InstallSettings): readonly string[] {
  const { namespace, sharedNamespace, excludeNamespace } = settings;
  return [...systemNamespaces, namespace, ...sharedNamespace, ...excludeNamespace];
}

/** What it shows before the watches are synced is not the whole cluster. */
export function watchCluster(settings: InstallSettings, watches: Watches): LiveCluster {
  const cluster = new LiveCluster({ excludedNamespaces: excludedNamespaces(settings) });
  watches.start({ path: resourcePath({ apiVersion, plural: 'namespacepolicies' }) }, cluster.policies);
  watches.start({ path: resourcePath({ apiVersion, plural: 'secretshares' }) }, cluster.shares);
  watches.start({ path: resourcePath({ apiVersion: 'v1', plural: 'namespaces' }) }, cluster.namespaces);
  return cluster;
}
