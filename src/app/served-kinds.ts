// Asks the API server which kinds it serves: those of security engines while a binding exists, and those of removed intents.
import { isDeepStrictEqual } from 'node:util';
import { group } from '../schema/names.ts';
import { isAborted, InterruptiblePause } from '../base/abort.ts';
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { KubeError } from '../base/kube-error.ts';
import { isTerminating } from '../base/metadata.ts';
import type { Discovery } from '../kube/object-writer.ts';
import type { ObjectWriter } from '../base/object-writer.ts';
import type { ObjectType } from '../base/object-type.ts';
import { isBinding } from '../policy/terms/provider-id.ts';
import type { LiveCluster, ProviderChange } from '../state/live-cluster.ts';
import { guessedPlural } from '../base/text.ts';

interface ServedKindsOptions {
  readonly cluster: Pick<LiveCluster, 'subscribe' | 'providers' | 'neededKinds' | 'setServed'>;
  readonly discovery: Discovery;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** The interval in which a new or deleted CustomResourceDefinition is noticed. Each time costs one request for each group. */
const intervalMs = 10_000;
/** The least time between two rounds, however many bindings are written. */
const minIntervalMs = 1000;

export class ServedKinds {
  readonly #options: ServedKindsOptions;
  readonly #pause: InterruptiblePause;
  readonly #firstRound = Promise.withResolvers<void>();

  constructor(options: ServedKindsOptions) {
    this.#options = options;
    this.#pause = new InterruptiblePause(options.clock);
    options.cluster.subscribe({
      affecting: (change) => {
        if (isWrittenBinding(change)) this.#pause.interrupt();
      },
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

  /** Returns undefined without an answer. Then the last answer stays valid. */
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

interface RemovedIntentsOptions {
  readonly cluster: Pick<LiveCluster, 'removedIntents' | 'setIntentKind'>;
  /** Returns the UID of the CustomResourceDefinition of intents; undefined when it is missing or being deleted. */
  readonly kindUid: (signal: AbortSignal) => Promise<string | undefined>;
  readonly clock: Pick<Clock, 'sleep' | 'random'>;
}

/** Finds out whether removed intents were deleted with their kind. If so, the objects of their bindings must stay. */
export class RemovedIntents {
  readonly #options: RemovedIntentsOptions;
  readonly #pause: InterruptiblePause;
  readonly #backoff: Backoff;

  constructor(options: RemovedIntentsOptions) {
    this.#options = options;
    this.#pause = new InterruptiblePause(options.clock);
    this.#backoff = new Backoff(options.clock);
  }

  /** Called when intents were removed. */
  ask(): void {
    this.#pause.interrupt();
  }

  /** Asks once at the start too, because a kind that is created again has another UID. */
  async run(signal: AbortSignal): Promise<void> {
    while (!isAborted(signal)) {
      const waitMs = (await this.#askOnce(signal)) ? maxSleepMs : this.#backoff.next();
      await this.#pause.wait(waitMs, signal);
    }
  }

  /** Returns whether the API server has answered. A definition is deleted before its objects, so the question follows them. */
  async #askOnce(signal: AbortSignal): Promise<boolean> {
    const { cluster, kindUid } = this.#options;
    const removed = cluster.removedIntents;
    try {
      cluster.setIntentKind(await kindUid(signal), removed);
      this.#backoff.reset();
      return true;
    } catch (error) {
      if (error instanceof KubeError || isAborted(signal)) return false;
      throw error;
    }
  }
}

/**
 * Returns the UID of the CustomResourceDefinition of one of our kinds; undefined when it is missing or being deleted. Rejects with
 * a KubeError.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#delete-a-customresourcedefinition
 */
export async function definitionUid(
  writer: Pick<ObjectWriter, 'read'>,
  plural: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ref = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name: `${plural}.${group}`,
  };
  const definition = await writer.read(ref, signal);
  return definition === undefined || isTerminating(definition) ? undefined : definition.metadata.uid;
}

/** The longest time that a timer can wait. */
const maxSleepMs = 2 ** 31 - 1;

function isWrittenBinding({ id, before, after }: ProviderChange): boolean {
  return isBinding(id) && !isDeepStrictEqual(before?.spec, after?.spec);
}

// Knows the resource name of each kind without waiting for the API server.

/** Returns a guess until the API server has answered. Asks at once for the allowed kinds. */
export function namesOfKinds(
  allowed: readonly ObjectType[],
  discovery: Pick<Discovery, 'find'>,
): (type: ObjectType) => string {
  const told = new Map<string, string>();
  const nameOf = ({ apiVersion, kind }: ObjectType): string => {
    const key = `${apiVersion}/${kind}`;
    // Each call asks again, because the answer may change. Discovery caches the answer, so a call is cheap.
    discovery.find(apiVersion, kind).then(
      (served) => (served === undefined ? told.delete(key) : told.set(key, served.plural)),
      // Without an answer the last one stays valid.
      () => undefined,
    );
    return told.get(key) ?? guessedPlural(kind);
  };
  for (const type of allowed) nameOf(type);
  return nameOf;
}
