// What policies find wrong with a Namespace that is already there; worked out again only when either has changed.
import type { KubeObject } from '../api/kube-object.ts';
import type { NamespacePolicySpec } from '../api/namespace-policy.ts';
import type { CompiledPolicy } from '../policy/compiled-policy.ts';
import { isManaged } from '../policy/contents/desired.ts';
import { missingDefaults, type MissingDefaults } from '../policy/contents/repair.ts';
import { labelsOf, valueOf } from '../policy/metadata.ts';
import { ownerId, type OwnerId } from '../policy/owner.ts';
import { auditNamespace, type Audit } from '../policy/status/audit.ts';
import { emptyPart, type OwnerPart } from '../policy/status/owner-part.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { Time } from './ports.ts';

export class Audits {
  readonly #cluster: LiveCluster;
  readonly #time: Pick<Time, 'now'>;
  readonly #known = new WeakMap<KubeObject, WeakMap<CompiledPolicy, Audit>>();

  constructor(cluster: LiveCluster, time: Pick<Time, 'now'>) {
    this.#cluster = cluster;
    this.#time = time;
  }

  /** Of every policy that matches the Namespace; beside what `parts` says already. */
  addTo(
    parts: ReadonlyMap<OwnerId, OwnerPart>,
    namespaceObject: KubeObject,
  ): ReadonlyMap<OwnerId, OwnerPart> {
    const audited = new Map(parts);
    for (const policy of this.#candidates(namespaceObject)) {
      const owner = ownerId('NamespacePolicy', policy.name);
      const { isMatched, violations } = this.#audit(policy, namespaceObject);
      if (!isMatched) continue;
      const label = this.#specOf(owner)?.namespaces?.quota?.label;
      const quotaValue = label === undefined ? undefined : valueOf(labelsOf(namespaceObject), label);
      audited.set(owner, { ...(parts.get(owner) ?? emptyPart), isMatched, violations, quotaValue });
    }
    return audited;
  }

  /** What policies with `existing: Repair` would add. */
  missingDefaults(namespaceObject: KubeObject): MissingDefaults | undefined {
    const repairing = this.repairers(namespaceObject);
    return repairing.length === 0 ? undefined : missingDefaults(repairing, namespaceObject, this.#time.now());
  }

  repairers(namespaceObject: KubeObject): readonly CompiledPolicy[] {
    const { owners } = this.#cluster.snapshot();
    return this.#candidates(namespaceObject).filter((policy) => {
      if (policy.namespaceDefaults.length === 0 || policy.isSuspended) return false;
      const id = ownerId('NamespacePolicy', policy.name);
      const state = owners.get(id);
      return state?.isValid === true && !state.isDeleting && this.#specOf(id)?.existing === 'Repair';
    });
  }

  isManaged(namespaceObject: KubeObject): boolean {
    return isManaged(namespaceObject, this.#cluster.snapshot());
  }

  #candidates(namespaceObject: KubeObject): readonly CompiledPolicy[] {
    return this.#cluster.snapshot().policies.candidates('namespaces', [namespaceObject]);
  }

  #audit(policy: CompiledPolicy, namespaceObject: KubeObject): Audit {
    const known = this.#known.get(namespaceObject)?.get(policy);
    if (known !== undefined) return known;
    const audit = auditNamespace(policy, namespaceObject, this.#time.now());
    // An exception that ends makes violations appear though nothing has changed.
    if (policy.exceptions.some(({ expiresAt }) => expiresAt !== undefined)) return audit;
    const audits = this.#known.get(namespaceObject) ?? new WeakMap<CompiledPolicy, Audit>();
    this.#known.set(namespaceObject, audits.set(policy, audit));
    return audit;
  }

  #specOf(owner: OwnerId): NamespacePolicySpec | undefined {
    const definition = this.#cluster.owner(owner)?.definition;
    return definition?.kind === 'NamespacePolicy' ? definition.object.spec : undefined;
  }
}
