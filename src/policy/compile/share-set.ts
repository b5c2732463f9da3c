// All shares that are in force, and which of them can reach a namespace.
import type { KubeObject } from '../../base/kube-object.ts';
import type { CompiledShare } from './compiled-share.ts';
import { byName, PolicyIndex } from './policy-index.ts';

export class ShareSet {
  readonly shares: readonly CompiledShare[];
  readonly #index: PolicyIndex<CompiledShare>;

  constructor(shares: readonly CompiledShare[]) {
    this.shares = shares.toSorted(byName);
    this.#index = new PolicyIndex(this.shares);
  }

  /** By name, the shares that can reach one of these Namespaces. */
  candidates(namespaceObjects: readonly KubeObject[]): readonly CompiledShare[] {
    return this.#index.candidates(namespaceObjects);
  }
}

export const noShares = new ShareSet([]);
