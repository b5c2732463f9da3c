// Keeps the SecurityIntents that the watch reports, and which kinds of security engines the API server serves.
import { isDeepStrictEqual } from 'node:util';
import { apiVersion } from '../api/names.ts';
import { securityIntentKind } from '../api/intents/security-intent.ts';
import type { KubeObject } from '../base/kube-object.ts';
import { nameOf } from '../base/metadata.ts';
import type { Intent, IntentAdapter } from '../policy/intents/adapter.ts';
import { loadIntent } from '../policy/compile/load-provider.ts';
import { FormCache } from '../policy/intents/form-cache.ts';
import { adapterStates, type AdapterSetup, type IntentContext } from '../policy/intents/intent-context.ts';
import type { ObjectType } from '../policy/terms/object-key.ts';
import { ObjectCache } from './object-cache.ts';

export interface StoredIntent {
  readonly name: string;
  /** The version in force; undefined when none loads. As for providers, a later version that does not load changes nothing. */
  readonly intent: Intent | undefined;
  readonly spec: unknown;
}

/** All adapters of the program, and what the installation says to them. */
export interface InstalledAdapters extends Omit<AdapterSetup, 'isServed'> {
  readonly adapters: readonly IntentAdapter[];
}

export class LiveIntents {
  readonly cache: ObjectCache<StoredIntent>;
  readonly #installed: InstalledAdapters;
  /** The kinds that the offered adapters need. */
  readonly neededKinds: readonly ObjectType[];
  /** The kinds that adapters need, with the last answer of the API server. Without an answer, a kind is not served. */
  readonly #served: Map<string, boolean>;
  #context: IntentContext | undefined;

  /** `changed` gets the names of the intents whose version in force has changed. */
  constructor(installed: InstalledAdapters, changed: (names: ReadonlySet<string>) => void) {
    this.#installed = installed;
    this.neededKinds = installed.adapters
      .filter(({ id }) => installed.offered?.has(id) !== false)
      .flatMap(({ needs }) => needs);
    this.#served = new Map(this.neededKinds.map((type) => [keyOf(type), false]));
    this.cache = new ObjectCache<StoredIntent>({
      apiVersion,
      kind: securityIntentKind,
      read: readIntent,
      changed: (changes) => {
        this.#context = undefined;
        changed(new Set(changes.filter(isNews).map(({ name }) => name)));
      },
    });
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
    const { adapters, offered, settings } = this.#installed;
    this.#context ??= {
      intents: new Map([...this.cache.values()].map(({ name, intent }) => [name, intent ?? 'invalid'])),
      adapters: adapterStates(adapters, { offered, settings, isServed: (type) => this.isServed(type) }),
      settings,
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
