// Keeps the SecurityIntents that the watch reports, and which kinds of security engines the API server serves.
import { isDeepStrictEqual } from 'node:util';
import { apiVersion } from '../schema/names.ts';
import { type KubeObject, nameOf } from '../base/metadata.ts';
import { unservedVersion, type WatchSink } from '../base/watch-sink.ts';
import type { Intent, IntentAdapter } from '../policy/intents/adapter.ts';
import { loadIntent } from '../policy/compile/load-provider.ts';
import { FormCache } from '../policy/intents/form-cache.ts';
import { adapterSettings, adapterStates, type IntentContext } from '../policy/intents/intent-context.ts';
import type { Install } from '../policy/terms/install.ts';
import type { ObjectType } from '../base/object-type.ts';
import { ObjectCache, type CacheChange } from './object-cache.ts';

interface StoredIntent {
  readonly name: string;
  /** The version in force. A later version that does not load changes nothing. Undefined if no version has loaded. */
  readonly intent: Intent | undefined;
  readonly spec: unknown;
}

export interface LiveIntentsOptions {
  readonly install: Install;
  /** All adapters of the program. */
  readonly adapters: readonly IntentAdapter[];
  /** The variables of the cluster now. Default: those of the install. */
  readonly variables?: () => Install['clusterVariables'];
  /** Receives the names of the intents whose version in force has changed. Undefined: the kind appeared or was deleted. */
  readonly changed: (names: ReadonlySet<string> | undefined) => void;
  /**
   * Called after each list, and when intents were removed. `setKind` must follow, because the intents may have been deleted
   * with their kind. Default: a person deleted them.
   */
  readonly removed?: (() => void) | undefined;
}

export class LiveIntents {
  readonly sink: WatchSink;
  readonly #cache: ObjectCache<StoredIntent>;
  readonly #changed: LiveIntentsOptions['changed'];
  /** The last versions of removed intents. They stay in force until Reeve knows who deleted the intents. */
  readonly #removed = new Map<string, Intent | 'invalid'>();
  /** Intents that were deleted together with their kind. */
  readonly #lost = new Set<string>();
  /** The UID of the CustomResourceDefinition, once it is known. */
  #kind: string | undefined;
  #isKindMissing = false;
  readonly #options: Pick<LiveIntentsOptions, 'install' | 'adapters' | 'variables'>;
  /** The kinds that the offered adapters need. */
  readonly neededKinds: readonly ObjectType[];
  /** The kinds that adapters need, with the last answer of the API server. Without an answer, a kind is not served. */
  readonly #served: Map<string, boolean>;
  #context: IntentContext | undefined;

  constructor({
    install,
    adapters,
    variables = () => install.clusterVariables,
    changed,
    removed,
  }: LiveIntentsOptions) {
    this.#options = { install, adapters, variables };
    this.#changed = changed;
    this.neededKinds = adapters
      .filter(({ id }) => install.adapters?.has(id) !== false)
      .flatMap(({ needs }) => needs);
    this.#served = new Map(this.neededKinds.map((type) => [keyOf(type), false]));
    this.#cache = new ObjectCache<StoredIntent>({
      apiVersion,
      kind: 'SecurityIntent',
      read: readIntent,
      changed: (changes) => {
        if (removed !== undefined) this.#keepRemoved(changes);
        const news = changes.filter((change) => isNews(change) && !this.#removed.has(change.name));
        this.#tell(news.map(({ name }) => name));
        if (this.#removed.size > 0) removed?.();
      },
    });
    this.sink = {
      replaced: (objects, version, isRestored) => {
        const isMissing = version === unservedVersion;
        this.#cache.replaced(objects, version, isRestored);
        // The kind may have been deleted and created again since the last list.
        removed?.();
        if (isMissing === this.#isKindMissing) return;
        this.#isKindMissing = isMissing;
        this.#context = undefined;
        changed(undefined);
      },
      changed: (object) => this.#cache.changed(object),
      removed: (object) => this.#cache.removed(object),
    };
  }

  get isSynced(): boolean {
    return this.#cache.isSynced;
  }

  /** The names of removed intents about which `setKind` must decide. */
  get removed(): ReadonlySet<string> {
    return new Set(this.#removed.keys());
  }

  /**
   * Takes the UID of the CustomResourceDefinition, or undefined while it is missing or being deleted. `removed`: the intents
   * that were removed before the question. They count as deleted by a person only if the kind is still the same.
   */
  setKind(uid: string | undefined, removed: ReadonlySet<string>): void {
    const isSame = uid !== undefined && (this.#kind === undefined || this.#kind === uid);
    this.#kind = uid;
    const decided = [...removed].filter((name) => this.#removed.delete(name));
    if (!isSame) for (const name of decided) this.#lost.add(name);
    if (decided.length > 0) this.#tell(decided);
  }

  #keepRemoved(changes: readonly CacheChange<StoredIntent>[]): void {
    for (const { name, before, after } of changes) {
      if (after === undefined) this.#removed.set(name, before?.intent ?? 'invalid');
      else for (const known of [this.#removed, this.#lost]) known.delete(name);
    }
  }

  #tell(names: readonly string[]): void {
    this.#context = undefined;
    this.#changed(new Set(names));
  }

  /** The variables of the cluster have changed, so the context is another one. */
  forgetContext(): void {
    this.#context = undefined;
  }

  isServed(type: ObjectType): boolean {
    return this.#served.get(keyOf(type)) ?? true;
  }

  /** Takes the answers of the API server, and returns whether one is new. */
  setServed(answers: Iterable<readonly [ObjectType, boolean]>): boolean {
    let isNew = false;
    for (const [type, isServed] of answers) {
      isNew ||= this.#served.get(keyOf(type)) !== isServed;
      this.#served.set(keyOf(type), isServed);
    }
    if (isNew) this.#context = undefined;
    return isNew;
  }

  get context(): IntentContext {
    const { adapters, install, variables } = this.#options;
    this.#context ??= {
      intents: new Map<string, Intent | 'invalid' | 'lost'>([
        ...this.#removed,
        ...[...this.#lost].map((name) => [name, 'lost'] as const),
        ...[...this.#cache.values()].map(({ name, intent }) => [name, intent ?? 'invalid'] as const),
      ]),
      isKindMissing: this.#isKindMissing,
      adapters: adapterStates(adapters, install, (type) => this.isServed(type)),
      settings: adapterSettings(install),
      cluster: variables?.(),
      forms: new FormCache(),
    };
    return this.#context;
  }
}

function keyOf({ apiVersion: version, kind }: ObjectType): string {
  return `${version}/${kind}`;
}

function readIntent(object: KubeObject, before: StoredIntent | undefined): StoredIntent {
  const { spec } = object;
  if (before !== undefined && isDeepStrictEqual(before.spec, spec)) return before;
  const load = loadIntent(object);
  return { name: nameOf(object), intent: load.ok ? load.value : before?.intent, spec };
}

function isNews({
  before,
  after,
}: {
  readonly before: StoredIntent | undefined;
  readonly after: StoredIntent | undefined;
}): boolean {
  return before?.intent !== after?.intent;
}
