// What each namespace is to contain, worked out once for each state of the namespace and of all policies and shares.
import type { KubeObject } from '../../base/kube-object.ts';
import { desired, type Desired } from '../../policy/desired/desired.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';

interface Known {
  readonly version: number;
  readonly desired: Desired;
}

export class Desires {
  readonly #snapshot: () => ClusterSnapshot;
  readonly #now: () => Date;
  readonly #known = new WeakMap<KubeObject, Known>();
  #version = 0;

  constructor(snapshot: () => ClusterSnapshot, now: () => Date) {
    this.#snapshot = snapshot;
    this.#now = now;
  }

  /** Something about a policy or share has changed that decides what namespaces contain. */
  forget(): void {
    this.#version += 1;
  }

  of(namespaceObject: KubeObject): Desired {
    const now = this.#now();
    const known = this.#known.get(namespaceObject);
    if (known?.version === this.#version && now.getTime() < (known.desired.nextExpiry ?? Infinity))
      return known.desired;
    const fresh = desired(namespaceObject, this.#snapshot(), now);
    this.#known.set(namespaceObject, { version: this.#version, desired: fresh });
    return fresh;
  }
}
