// Keeps the numbers of the last status of each provider, for the metrics.
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { providerConditions } from '../../policy/status/provider-conditions.ts';
import type { StatusFacts } from '../../policy/status/provider-status.ts';
import { kindOfProvider, shortName, type ProviderId } from '../../policy/terms/provider-id.ts';

type Numbers = ReturnType<typeof numbersOf>;

export class StatusNumbers {
  readonly #numbers = new Map<ProviderId, Numbers>();

  set(facts: StatusFacts, definition: ProviderDefinition | undefined, nextExpiry: number | undefined): void {
    this.#numbers.set(facts.state.id, numbersOf(facts, definition, nextExpiry));
  }

  delete(provider: ProviderId): void {
    this.#numbers.delete(provider);
  }

  clear(): void {
    this.#numbers.clear();
  }

  all(): readonly Numbers[] {
    return [...this.#numbers.values()];
  }
}

function numbersOf(
  facts: StatusFacts,
  definition: ProviderDefinition | undefined,
  nextExpiry: number | undefined,
) {
  const { state, matched, counts, held, violations } = facts;
  const policy = definition?.kind === 'NamespacePolicy' ? definition.compiled : undefined;
  return {
    kind: kindOfProvider(state.id),
    name: shortName(state.id),
    isReady: providerConditions(facts).some(({ type, status }) => type === 'Ready' && status === 'True'),
    matched,
    ...counts,
    held: held?.count ?? 0,
    violations: policy === undefined ? {} : violations.byResource,
    exceptionsEnd: (policy?.exceptions ?? []).flatMap(({ expiresAt }) => expiresAt ?? []),
    grantsEnd: nextExpiry,
  };
}
