// `existing: Repair`: adds missing defaults to a Namespace, and never changes a value.
import type { KubeObject } from '../../base/kube-object.ts';
import { objectKey } from '../../policy/terms/object-key.ts';
import { failedResult, type ObjectResult } from '../../policy/plan/object-result.ts';
import type { Audits } from './audits.ts';
import type { EventAnnouncer } from '../events.ts';
import type { ObjectWriter, ReconcileObserver } from '../ports.ts';
import { classifyWriteError, type WriteError } from './write-error.ts';

export interface DefaultsRepairerOptions {
  readonly audits: Audits;
  readonly writer: Pick<ObjectWriter, 'mergePatch'>;
  readonly announcer: Pick<EventAnnouncer, 'added'>;
  readonly observer: Pick<ReconcileObserver, 'wroteOwn'>;
}

export interface Repair {
  readonly error?: WriteError;
  readonly outcomes: readonly ObjectResult[];
}

const noProblem: Repair = { outcomes: [] };

export class DefaultsRepairer {
  readonly #options: DefaultsRepairerOptions;

  constructor(options: DefaultsRepairerOptions) {
    this.#options = options;
  }

  async repair(namespaceObject: KubeObject, signal: AbortSignal): Promise<Repair> {
    const missing = this.#options.audits.missingDefaults(namespaceObject);
    if (missing === undefined) return noProblem;
    const { name = '', uid, resourceVersion } = namespaceObject.metadata;
    // The version is a precondition: a key that was set since then must not be changed.
    const patch = {
      metadata: {
        uid,
        resourceVersion,
        ...(missing.labels.size === 0 ? {} : { labels: Object.fromEntries(missing.labels) }),
        ...(missing.annotations.size === 0 ? {} : { annotations: Object.fromEntries(missing.annotations) }),
      },
    };
    try {
      await this.#options.writer.mergePatch({ apiVersion: 'v1', kind: 'Namespace', name }, patch, { signal });
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#failed(namespaceObject, classifyWriteError(error, 'change'));
    }
    this.#options.observer.wroteOwn('default');
    for (const { provider, ...key } of missing.keys) this.#options.announcer.added(provider, name, key);
    return noProblem;
  }

  /** Reports the error for every policy that repairs the namespace. */
  #failed(namespaceObject: KubeObject, error: WriteError): Repair {
    if (error.kind !== 'permanent') return { error, outcomes: [] };
    const key = objectKey({ apiVersion: 'v1', kind: 'Namespace' }, namespaceObject.metadata.name ?? '');
    const message = `cannot add missing defaults: ${error.message}`;
    const outcomes = this.#options.audits.repairers(namespaceObject).map((policy): ObjectResult => {
      const about = { provider: policy.id, key };
      return failedResult(about, error.reason, message);
    });
    return { error, outcomes };
  }
}
