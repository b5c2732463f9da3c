// `existing: Repair`: adds missing defaults to a Namespace, and never changes a value.
import { type KubeObject, keyText } from '../../base/metadata.ts';
import type { Clock } from '../../base/clock.ts';
import { objectKey, type ObjectKey } from '../../policy/terms/object-key.ts';
import type { MissingKey } from '../../policy/plan/repair.ts';
import { listed } from '../../base/text.ts';
import { failedResult, type ObjectResult } from '../../policy/plan/object-result.ts';
import type { Audits } from './audits.ts';
import type { EventAnnouncer } from '../events.ts';
import type { ObjectWriter, ReconcileObserver } from '../ports.ts';
import { RewriteLimit } from './rewrite-limit.ts';
import { classifyWriteError, type WriteError } from './write-error.ts';

interface DefaultsRepairerOptions {
  readonly audits: Audits;
  readonly writer: Pick<ObjectWriter, 'mergePatch'>;
  readonly announcer: Pick<EventAnnouncer, 'added'>;
  readonly observer: Pick<ReconcileObserver, 'wroteOwn' | 'rewriteLimited'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export interface Repair {
  readonly error?: WriteError;
  readonly outcomes: readonly ObjectResult[];
  /** Keys were left alone, and may be written again after this delay. */
  readonly againMs?: number;
}

const noProblem: Repair = { outcomes: [] };

interface LimitedKey extends MissingKey {
  readonly id: string;
  readonly value: string;
  /** 0: the key may be written now. */
  readonly againMs: number;
}

function namespaceKey(name: string): ObjectKey {
  return objectKey({ apiVersion: 'v1', kind: 'Namespace' }, name);
}

export class DefaultsRepairer {
  readonly #options: DefaultsRepairerOptions;
  /** For each key of each Namespace: a client that removes one key must not keep Reeve from adding the others. */
  readonly #rewriteLimit: RewriteLimit;

  constructor(options: DefaultsRepairerOptions) {
    this.#options = options;
    this.#rewriteLimit = new RewriteLimit(options.clock);
  }

  async repair(namespaceObject: KubeObject, signal: AbortSignal): Promise<Repair> {
    const missing = this.#options.audits.missingDefaults(namespaceObject);
    if (missing === undefined) return noProblem;
    const keys = missing.keys.map((key): LimitedKey => {
      const id = [namespaceObject.metadata.uid, key.field, key.key].join('/');
      const value = missing[key.field].get(key.key) ?? '';
      return { ...key, id, value, againMs: this.#rewriteLimit.pauseFor(id, value) };
    });
    const [limited, due] = [
      keys.filter(({ againMs }) => againMs > 0),
      keys.filter(({ againMs }) => againMs === 0),
    ];
    const left = this.#leftAlone(namespaceObject, limited);
    const { error, outcomes } = due.length === 0 ? noProblem : await this.#add(due, namespaceObject, signal);
    return { ...left, ...(error === undefined ? {} : { error }), outcomes: [...left.outcomes, ...outcomes] };
  }

  async #add(keys: readonly LimitedKey[], namespaceObject: KubeObject, signal: AbortSignal): Promise<Repair> {
    const { name = '', uid, resourceVersion } = namespaceObject.metadata;
    const fields = Map.groupBy(keys, ({ field }) => field);
    const added = Object.fromEntries(
      [...fields].map(([field, own]) => [
        field,
        Object.fromEntries(own.map(({ key, value }) => [key, value])),
      ]),
    );
    // The version is a precondition: a key that was set since then must not be changed.
    const patch = { metadata: { uid, resourceVersion, ...added } };
    try {
      await this.#options.writer.mergePatch({ apiVersion: 'v1', kind: 'Namespace', name }, patch, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#failed(namespaceObject, classifyWriteError(error, 'change'));
    }
    this.#options.observer.wroteOwn('default');
    for (const { id, value, provider, field, key } of keys) {
      this.#rewriteLimit.wrote(id, value);
      this.#options.announcer.added(provider, name, { field, key });
    }
    return noProblem;
  }

  /** Reports the keys to the policies that set them. */
  #leftAlone(namespaceObject: KubeObject, keys: readonly LimitedKey[]): Repair {
    if (keys.length === 0) return noProblem;
    const { name = '' } = namespaceObject.metadata;
    const outcomes = [...Map.groupBy(keys, ({ provider }) => provider)].map(([provider, own]) => {
      this.#options.observer.rewriteLimited({ namespace: name, kind: 'Namespace', name, owner: provider });
      const names = listed(own.map(({ field, key }) => keyText(field, key)));
      const message = `another client keeps removing ${names}, so Reeve leaves it alone for a while`;
      return failedResult({ provider, key: namespaceKey(name) }, 'Contended', message);
    });
    return { outcomes, againMs: Math.min(...keys.map(({ againMs }) => againMs)) };
  }

  /** Reports the error for every policy that repairs the namespace. */
  #failed(namespaceObject: KubeObject, error: WriteError): Repair {
    if (error.kind !== 'permanent') return { error, outcomes: [] };
    const key = namespaceKey(namespaceObject.metadata.name ?? '');
    const message = `cannot add missing defaults: ${error.message}`;
    const outcomes = this.#options.audits.repairers(namespaceObject).map((policy): ObjectResult => {
      const about = { provider: policy.id, key };
      return failedResult(about, error.reason, message);
    });
    return { error, outcomes };
  }
}
