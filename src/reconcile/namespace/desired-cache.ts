// Caches the desired objects of each Namespace.
import type { Clock } from '../../base/clock.ts';
import type { KubeObject } from '../../base/kube-object.ts';
import { desired, type Desired } from '../../policy/desired/desired.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';

interface Entry {
  readonly version: number;
  readonly desired: Desired;
}

export interface DesiredCacheOptions {
  readonly cluster: Pick<LiveCluster, 'snapshot' | 'subscribe'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** An entry is valid for one state of the Namespace and of all providers, until its next expiry. */
export class DesiredCache {
  readonly #options: DesiredCacheOptions;
  /** A changed Namespace is a new object, so its old entry is never found again. */
  readonly #entries = new WeakMap<KubeObject, Entry>();
  /** Counts the changes of providers. */
  #version = 0;

  constructor(options: DesiredCacheOptions) {
    this.#options = options;
    options.cluster.subscribe((change) => {
      if (change.kind !== 'namespace' && change.affectsNamespaces) this.#version += 1;
    });
  }

  of(namespaceObject: KubeObject): Desired {
    const { cluster, clock } = this.#options;
    const now = clock.now();
    const entry = this.#entries.get(namespaceObject);
    if (entry?.version === this.#version && now.getTime() < (entry.desired.nextExpiry ?? Infinity))
      return entry.desired;
    const fresh = desired(namespaceObject, cluster.snapshot(), now);
    this.#entries.set(namespaceObject, { version: this.#version, desired: fresh });
    return fresh;
  }
}
