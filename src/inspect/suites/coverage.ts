// Collects which rules the tests reach: refused, allowed, or never asked.
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import type { RuleOutcome, Trace } from '../../policy/terms/review.ts';
import { everyOperation, type Operation, type RuleTraits } from '../../rules/rule.ts';
import type { CoverageGap } from '../output-schemas/test-results.ts';

interface Reached {
  readonly traits: RuleTraits;
  isRefused: boolean;
  isAllowed: boolean;
}

export class Coverage {
  readonly #policies = new Map<string, Map<string, Reached>>();

  addAll(providers: readonly ProviderDefinition[]): void {
    for (const { kind, compiled } of providers) if (kind === 'NamespacePolicy') this.add(compiled);
  }

  /** Adds the rules of a policy, and none of them is reached. */
  add(policy: CompiledPolicy): void {
    const rules = this.#policies.get(policy.name) ?? new Map<string, Reached>();
    this.#policies.set(policy.name, rules);
    for (const { id, traits } of Object.values(policy.rules).flat())
      if (!rules.has(id)) rules.set(id, { traits, isRefused: false, isAllowed: false });
  }

  /** `operation`: undefined for an audit. */
  trace(operation: Operation | undefined): Trace {
    return ({ policy, rule, kind, fresh, old }: RuleOutcome) => {
      const reached = this.#policies.get(policy)?.get(rule);
      if (reached === undefined || kind !== 'judged') return;
      if (fresh.length > 0) reached.isRefused = true;
      else if (old.length === 0 && isShown(reached.traits, operation)) reached.isAllowed = true;
    };
  }

  /** By policy, in the order of its rules. */
  gaps(): readonly CoverageGap[] {
    const policies = [...this.#policies].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return policies.flatMap(([policy, rules]) =>
      [...rules].flatMap(([rule, reached]) => {
        const gap = gapOf(reached);
        return gap === undefined ? [] : [{ policy, rule, gap }];
      }),
    );
  }
}

/** Other writes never violate the rule, so they show nothing. */
function isShown({ operations }: RuleTraits, operation: Operation | undefined): boolean {
  return operation === undefined ? operations === everyOperation : operations.includes(operation);
}

function gapOf({ traits, isRefused, isAllowed }: Reached): CoverageGap['gap'] | undefined {
  // Reeve fulfills some rules by itself, so a refusal is rare.
  if (isAllowed && (isRefused || traits.isFulfilled === true)) return undefined;
  if (isRefused) return 'never allowed';
  return isAllowed ? 'never refused' : 'never evaluated';
}
