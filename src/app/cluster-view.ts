// Starts the watches that keep the engine's view of the cluster up to date: policies, shares and Namespaces.
import { apiVersion, systemNamespaces } from '../api/names.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import { LiveCluster } from '../state/live-cluster.ts';
import type { Watches } from './watches.ts';

export interface InstallSettings {
  /** The namespace of the install; no policy matches it. */
  readonly namespace: string;
  /** Namespaces of Secrets that may be shared; no policy matches them. */
  readonly sharedNamespace: readonly string[];
  readonly excludeNamespace: readonly string[];
}

export function excludedNamespaces(settings: InstallSettings): readonly string[] {
  const { namespace, sharedNamespace, excludeNamespace } = settings;
  return [...systemNamespaces, namespace, ...sharedNamespace, ...excludeNamespace];
}

/** The view is incomplete until the watches have synced. */
export function watchCluster(settings: InstallSettings, watches: Watches): LiveCluster {
  const cluster = new LiveCluster({ excludedNamespaces: excludedNamespaces(settings) });
  watches.start({ path: resourcePath({ apiVersion, plural: 'namespacepolicies' }) }, cluster.policies);
  watches.start({ path: resourcePath({ apiVersion, plural: 'secretshares' }) }, cluster.shares);
  watches.start({ path: resourcePath({ apiVersion: 'v1', plural: 'namespaces' }) }, cluster.namespaces);
  return cluster;
}
