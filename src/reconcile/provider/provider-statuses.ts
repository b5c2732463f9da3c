// Reads and writes the stored status of providers, with as few requests as possible.
import { KubeError } from '../../base/kube-error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { KubeObject } from '../../base/metadata.ts';
import {
  providerRef,
  type ProviderId,
  type ProviderState,
  kindOfProvider,
  shortName,
} from '../../policy/terms/provider-id.ts';
import { statusPatch, type StatusFacts } from '../../policy/status/provider-status.ts';
import type { ObjectWriter, ReconcileObserver } from '../ports.ts';
import { isNewerResourceVersion } from '../../base/resource-version.ts';
import type { LiveCluster } from '../../state/live-cluster.ts';
import { wasRestored } from '../dispatcher.ts';
import type { ProviderDefinition } from '../../policy/compile/load-provider.ts';
import { providerConditions } from '../../policy/status/provider-conditions.ts';

interface Stored {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly status: unknown;
}

interface ProviderStatusesOptions {
  readonly writer: Pick<ObjectWriter, 'read' | 'mergePatch'>;
  readonly observer: Pick<ReconcileObserver, 'wroteOwn'>;
  readonly cluster: Pick<LiveCluster, 'subscribe'>;
}

export class ProviderStatuses {
  readonly #writer: Pick<ObjectWriter, 'read' | 'mergePatch'>;
  readonly #observer: Pick<ReconcileObserver, 'wroteOwn'>;
  readonly #known = new Map<ProviderId, Stored>();

  constructor({ writer, observer, cluster }: ProviderStatusesOptions) {
    this.#writer = writer;
    this.#observer = observer;
    cluster.subscribe((change) => {
      // The status that we wrote after the backup was taken is lost.
      if (change.kind !== 'namespace' && wasRestored(change)) this.forget(change.id);
    });
  }

  /** Another leader may write the statuses from now on. */
  clear(): void {
    this.#known.clear();
  }

  forget(provider: ProviderId): void {
    this.#known.delete(provider);
  }

  /** Writes the result of `statusOf` when it differs from the stored status. Rejects with a KubeError. */
  async keep(
    { id, uid, resourceVersion }: ProviderState,
    statusOf: (stored: unknown) => JsonObject,
    signal: AbortSignal,
  ): Promise<boolean> {
    const known = this.#known.get(id);
    const isCurrent = known?.uid === uid && !isNewerResourceVersion(resourceVersion, known.resourceVersion);
    const stored = isCurrent ? known : await this.#read(id, signal);
    if (stored?.uid !== uid) return false;
    const patch = statusPatch(stored.status, statusOf(stored.status));
    if (patch === undefined) return false;
    await this.#write(id, stored, patch, signal);
    return true;
  }

  async #read(id: ProviderId, signal: AbortSignal): Promise<Stored | undefined> {
    const object = await this.#writer.read(providerRef(id), signal);
    return object === undefined ? undefined : this.#remember(id, object);
  }

  async #write(
    id: ProviderId,
    { resourceVersion }: Stored,
    status: JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const patch = { metadata: { resourceVersion }, status };
      this.#remember(
        id,
        await this.#writer.mergePatch(providerRef(id), patch, { subresource: 'status', signal }),
      );
    } catch (error) {
      // The stored status may differ from what we know, for example after a conflict.
      if (error instanceof KubeError) this.forget(id);
      throw error;
    }
    this.#observer.wroteOwn('status');
  }

  #remember(id: ProviderId, object: KubeObject): Stored {
    const { uid, resourceVersion } = object.metadata;
    const stored = {
      uid,
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
      status: object['status'],
    };
    this.#known.set(id, stored);
    return stored;
  }
}

// Keeps the numbers of the last status of each provider, for the metrics.

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
