// Caches the desired objects of each Namespace.
import { desired, type Desired } from '../../policy/desired/desired.ts';
import { namespaceOfProvider, type ProviderId } from '../../policy/terms/provider-id.ts';
import type { Clock } from '../../base/clock.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';

interface Entry {
  readonly version: number;
  readonly ownVersion: number;
  readonly desired: Desired;
}

interface DesiredCacheOptions {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'subscribe'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** An entry is valid for one state of the Namespace and of all providers, until its next expiry. */
export class DesiredCache {
  readonly #options: DesiredCacheOptions;
  /** A changed Namespace is a new object, so its old entry is never found again. */
  readonly #entries = new WeakMap<KubeObject, Entry>();
  /** Counts the changes of providers that can match any namespace. */
  #version = 0;
  /** By namespace: counts the changes of its own bindings, which cannot matter to other namespaces. */
  readonly #ownVersions = new Map<string, number>();

  constructor(options: DesiredCacheOptions) {
    this.#options = options;
    options.cluster.subscribe((change) => {
      if (change.kind === 'namespace') {
        if (change.after === undefined) this.#ownVersions.delete(change.name);
      } else if (change.affectsNamespaces) this.#providerChanged(change.id);
    });
  }

  of(namespaceObject: KubeObject): Desired {
    const { cluster, clock } = this.#options;
    const now = clock.now();
    const entry = this.#entries.get(namespaceObject);
    const version = this.#version;
    const ownVersion = this.#ownVersions.get(nameOf(namespaceObject)) ?? 0;
    const isCurrent = entry?.version === version && entry.ownVersion === ownVersion;
    if (isCurrent && now.getTime() < (entry.desired.nextExpiry ?? Infinity)) return entry.desired;
    const fresh = desired(namespaceObject, cluster.snapshot(), now);
    this.#entries.set(namespaceObject, { version, ownVersion, desired: fresh });
    return fresh;
  }

  #providerChanged(id: ProviderId): void {
    const namespace = namespaceOfProvider(id);
    if (namespace === undefined) this.#version += 1;
    else this.#ownVersions.set(namespace, (this.#ownVersions.get(namespace) ?? 0) + 1);
  }
}
