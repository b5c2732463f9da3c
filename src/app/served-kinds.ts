// Asks the API server again and again which kinds of security engines it serves, while a binding of intents exists.
import { isDeepStrictEqual } from 'node:util';
import { isAborted } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { KubeError } from '../base/kube-error.ts';
import { InterruptiblePause } from '../base/pause.ts';
import type { Discovery } from '../kube/discovery.ts';
import { isBinding } from '../policy/terms/provider-id.ts';
import type { ObjectType } from '../policy/terms/object-key.ts';
import type { ClusterChange, LiveCluster } from '../state/live-cluster.ts';

export interface ServedKindsOptions {
  readonly cluster: Pick<LiveCluster, 'subscribe' | 'providers' | 'neededKinds' | 'setServed'>;
  readonly discovery: Discovery;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** How often a CustomResourceDefinition that comes or goes is noticed. Each time costs one request for each group. */
const intervalMs = 10_000;
/** Minimum time between two rounds, however many bindings are written. */
const minIntervalMs = 1000;

export class ServedKinds {
  readonly #options: ServedKindsOptions;
  readonly #pause: InterruptiblePause;
  readonly #firstRound = Promise.withResolvers<void>();

  constructor(options: ServedKindsOptions) {
    this.#options = options;
    this.#pause = new InterruptiblePause(options.clock);
    options.cluster.subscribe((change) => {
      if (isWrittenBinding(change)) this.#pause.interrupt();
    });
  }

  /** Resolves when every kind has been asked for once, answered or not. */
  get asked(): Promise<void> {
    return this.#firstRound.promise;
  }

  /** Asks once at the start, because the first binding should not wait. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!isAborted(signal)) {
      await this.#askAll(signal);
      this.#firstRound.resolve();
      await clock.sleep(minIntervalMs, signal).catch(() => undefined);
      do await this.#pause.wait(intervalMs - minIntervalMs, signal);
      while (!isAborted(signal) && !this.#hasBindings());
    }
  }

  #hasBindings(): boolean {
    return [...this.#options.cluster.providers()].some(({ state }) => isBinding(state.id));
  }

  async #askAll(signal: AbortSignal): Promise<void> {
    const { cluster } = this.#options;
    const versions = Map.groupBy(cluster.neededKinds, ({ apiVersion }) => apiVersion);
    const answers = await Promise.all(
      [...versions].map(([apiVersion, types]) => this.#ask(apiVersion, types, signal)),
    );
    cluster.setServed(answers.flatMap((answer) => answer ?? []));
  }

  /** Undefined without an answer: what is known stays. */
  async #ask(
    apiVersion: string,
    types: readonly ObjectType[],
    signal: AbortSignal,
  ): Promise<readonly (readonly [ObjectType, boolean])[] | undefined> {
    const { discovery } = this.#options;
    try {
      await discovery.refresh(apiVersion, signal);
      return await Promise.all(
        types.map(
          async (type) =>
            [type, (await discovery.find(apiVersion, type.kind, signal)) !== undefined] as const,
        ),
      );
    } catch (error) {
      if (error instanceof KubeError || isAborted(signal)) return undefined;
      throw error;
    }
  }
}

/** Our own status of a binding is no reason to ask. */
function isWrittenBinding(change: ClusterChange): boolean {
  return (
    change.kind === 'provider' &&
    isBinding(change.id) &&
    !isDeepStrictEqual(change.before?.spec, change.after?.spec)
  );
}
