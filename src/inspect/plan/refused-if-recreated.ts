// Finds existing Namespaces that the changed policies would refuse, if someone created them again.
import { unlimitedBudget } from '../../policy/terms/budget.ts';
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import type { ClusterSnapshot } from '../../policy/compile/snapshot.ts';
import { auditNamespace } from '../../policy/decide/audit.ts';
import { withNamespaceDefaults } from '../../policy/decide/mutate.ts';
import { violationLine } from '../../policy/terms/message.ts';
import { type KubeObject, nameOf } from '../../base/metadata.ts';
import { namespaceType } from '../input/loaded-state.ts';
import type { PlanChange } from '../output-schemas/plan-output.ts';
import { plannedObject } from './step-rows.ts';

export class Refusals {
  readonly #before: ClusterSnapshot;
  readonly #policiesBefore: ReadonlyMap<string, CompiledPolicy>;
  readonly #now: Date;

  constructor(before: ClusterSnapshot, now: Date) {
    this.#before = before;
    this.#policiesBefore = new Map(before.policies.policies.map((policy) => [policy.id, policy]));
    this.#now = now;
  }

  /** `changed` are the policies that would be applied. What they refuse today is no change. */
  rowsOf(
    namespaceObject: KubeObject,
    snapshot: ClusterSnapshot,
    changed: ReadonlySet<string>,
  ): readonly PlanChange[] {
    if (changed.size === 0) return [];
    // The defaults of a creation are set before it is judged.
    const created = withNamespaceDefaults(namespaceObject, snapshot, this.#now);
    const candidates = snapshot.policies.candidates('namespaces', [created]);
    const policies = candidates.filter(({ id }) => changed.has(id));
    if (policies.length === 0) return [];
    const createdBefore = withNamespaceDefaults(namespaceObject, this.#before, this.#now);
    return policies.flatMap((policy) => {
      const known = new Set(
        this.#refusedBy(this.#policiesBefore.get(policy.id), createdBefore).map(ruleAndPath),
      );
      const found = this.#refusedBy(policy, created).filter((each) => !known.has(ruleAndPath(each)));
      return found.map((violation): PlanChange => ({
        action: 'refused-if-recreated',
        object: plannedObject({ type: namespaceType, name: nameOf(namespaceObject) }),
        provider: policy.id,
        certain: true,
        reason: violation.rule,
        message: violationLine(violation),
      }));
    });
  }

  #refusedBy(policy: CompiledPolicy | undefined, namespaceObject: KubeObject) {
    if (policy?.actions.includes('Deny') !== true) return [];
    return auditNamespace(policy, namespaceObject, { now: this.#now, budget: unlimitedBudget }).violations;
  }
}

function ruleAndPath({ rule, path }: { readonly rule: string; readonly path: string }): string {
  return `${rule} ${path}`;
}
