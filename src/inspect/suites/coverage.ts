// Collects which rules the tests reach: refused, allowed, or never asked.
import type { CompiledPolicy } from '../../policy/compile/compile-policy.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import type { RuleOutcome, Trace } from '../../policy/terms/trace.ts';
import type { Operation } from '../../policy/terms/review.ts';
import type { CoverageGap } from '../output-schemas/test-results.ts';

interface Reached {
  isRefused: boolean;
  isAllowed: boolean;
}

/** Other writes never violate these rules, so they show nothing. */
const judgedOperations: Readonly<Record<string, Operation>> = {
  'namespaces.immutable': 'UPDATE',
  'namespaces.requesters': 'CREATE',
  'namespaces.deletion': 'DELETE',
};

/** Reeve fulfills these by itself, so a refusal is rare. */
function isSeldomRefused(rule: string): boolean {
  return rule === 'contents' || rule.endsWith('.defaults');
}

export class Coverage {
  readonly #policies = new Map<string, Map<string, Reached>>();

  addAll(providers: readonly ProviderDefinition[]): void {
    for (const { kind, compiled } of providers) if (kind === 'NamespacePolicy') this.add(compiled);
  }

  /** Adds the rules of a policy, and none of them is reached. */
  add({ name, namespaceRules, secretRules, roleRules, roleBindingRules }: CompiledPolicy): void {
    const rules = this.#policies.get(name) ?? new Map<string, Reached>();
    this.#policies.set(name, rules);
    for (const { id } of [...namespaceRules, ...secretRules, ...roleRules, ...roleBindingRules])
      if (!rules.has(id)) rules.set(id, { isRefused: false, isAllowed: false });
  }

  /** `operation`: undefined for an audit. */
  trace(operation: Operation | undefined): Trace {
    return ({ policy, rule, kind, fresh, old }: RuleOutcome) => {
      const reached = this.#policies.get(policy)?.get(rule);
      const only = judgedOperations[rule];
      if (reached === undefined || kind !== 'judged') return;
      if (fresh.length > 0) reached.isRefused = true;
      else if (old.length === 0 && (only === undefined || only === operation)) reached.isAllowed = true;
    };
  }

  /** By policy, in the order of its rules. */
  gaps(): readonly CoverageGap[] {
    const policies = [...this.#policies].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return policies.flatMap(([policy, rules]) =>
      [...rules].flatMap(([rule, reached]) => {
        const gap = gapOf(rule, reached);
        return gap === undefined ? [] : [{ policy, rule, gap }];
      }),
    );
  }
}

function gapOf(rule: string, { isRefused, isAllowed }: Reached): CoverageGap['gap'] | undefined {
  if (isAllowed && (isRefused || isSeldomRefused(rule))) return undefined;
  if (isRefused) return 'never allowed';
  return isAllowed ? 'never refused' : 'never evaluated';
}
