// Finds the blockers of a provider: missing sources, rights or webhooks, which no namespace can report.
import { unavailable, type CopyState } from '../../policy/plan/copy.ts';
import type { InstallRole, MissingRights, RightsPurpose } from '../../policy/authors/own-rights.ts';
import type { ProviderId } from '../../policy/terms/provider-id.ts';
import { blockersOf, type BlockerFacts } from '../../policy/status/provider-conditions.ts';
import type { LoadedProvider } from '../../state/stored-provider.ts';
import type { EventAnnouncer } from '../events.ts';
import type { ProviderLedger } from '../ledger.ts';
import type { ReconcileObserver } from '../ports.ts';
import type { SelfCheck } from './self-check.ts';
import type { Sources } from '../live/sources.ts';
import { partsWithoutHook, type HookMode } from '../../policy/compile/applicable-rules.ts';
import { classifyWriteError } from '../namespace/write-error.ts';
import type { WorkQueue } from '../queue/queue.ts';

export interface ProviderBlockersOptions {
  readonly sources: Sources;
  readonly ledger: ProviderLedger;
  readonly selfCheck: SelfCheck;
  readonly secretsRbacFailurePolicy: HookMode | undefined;
  /** Returns where the install must get a rule that our own account lacks. */
  readonly whereToAdd: (purpose: RightsPurpose) => InstallRole;
  readonly announcer: EventAnnouncer;
  readonly observer: Pick<ReconcileObserver, 'blocked'>;
  readonly providerQueue: Pick<WorkQueue<ProviderId>, 'addAfter'>;
}

/** Used when the error names no delay. */
const defaultRetryMs = 1000;

export class ProviderBlockers {
  readonly #options: ProviderBlockersOptions;
  /** The reasons that were announced last. */
  readonly #announced = new Map<ProviderId, ReadonlySet<string>>();

  constructor(options: ProviderBlockersOptions) {
    this.#options = options;
  }

  /** Returns the facts from which the status is made. Rejects with a KubeError. */
  async of(loaded: LoadedProvider, signal: AbortSignal): Promise<BlockerFacts> {
    const [source, missingRights] = await Promise.all([
      this.#sourceOf(loaded, signal),
      this.#missingRightsOf(loaded, signal),
    ]);
    const { definition } = loaded;
    const { secretsRbacFailurePolicy: hookMode = 'Ignore' } = this.#options;
    const unjudged =
      definition?.kind === 'NamespacePolicy' ? partsWithoutHook(definition.compiled, hookMode) : [];
    const facts = { source, missingRights, partsWithoutHook: unjudged };
    this.#announce(loaded.state.id, facts);
    return facts;
  }

  forget(provider: ProviderId): void {
    this.#announced.delete(provider);
    this.#options.selfCheck.forget(provider);
  }

  clear(): void {
    this.#announced.clear();
    this.#options.selfCheck.clear();
  }

  /** Announces blockers once, when they begin. */
  #announce(provider: ProviderId, facts: BlockerFacts): void {
    const { announcer, observer } = this.#options;
    const blockers = blockersOf(facts);
    const before = this.#announced.get(provider);
    this.#announced.set(provider, new Set(blockers.map(({ reason }) => reason)));
    for (const { reason, message } of blockers) {
      if (before?.has(reason) === true) continue;
      announcer.provider(provider, reason, message);
      observer.blocked(provider, reason);
    }
  }

  /** A provider that is suspended or being deleted needs no rights. */
  async #missingRightsOf(
    { definition, state }: LoadedProvider,
    signal: AbortSignal,
  ): Promise<readonly MissingRights[]> {
    if (definition === undefined || state.isDeleting || state.isSuspended) return [];
    const { selfCheck, ledger, whereToAdd } = this.#options;
    const failures = ledger.tallyOf(state.id).failures();
    const wasRefused = failures.some(({ reason }) => reason === 'InsufficientPermissions');
    const missing = await selfCheck.missing(state.id, definition, wasRefused, signal);
    return missing.map(({ purpose, ...rule }) => ({ ...rule, addTo: whereToAdd(purpose) }));
  }

  async #sourceOf(
    { definition, state }: LoadedProvider,
    signal: AbortSignal,
  ): Promise<CopyState | undefined> {
    if (definition?.kind !== 'SecretShare') return undefined;
    const { sources, providerQueue } = this.#options;
    const { compiled } = definition;
    if (sources.copyStateOf(compiled).kind !== 'unread') return sources.copyStateOf(compiled);
    try {
      await sources.read(compiled, signal);
      return sources.copyStateOf(compiled);
    } catch (error) {
      const readError = classifyWriteError(error, 'change');
      if (readError.kind !== 'permanent') throw error;
      providerQueue.addAfter(state.id, readError.minDelayMs ?? defaultRetryMs);
      return unavailable('SourceUnreadable', readError.message);
    }
  }
}
