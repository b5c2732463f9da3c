// The Reports that the API server has, by namespace: a digest stands for the content.
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, labelsOf, valueOf } from '../../base/metadata.ts';
import { unservedVersion, type WatchSink } from '../../base/watch-sink.ts';

interface LiveReport {
  readonly uid: string;
  readonly isOurs: boolean;
  readonly digest: string;
  /** The digest of the Report that Reeve sent, if the API server stored this one for it. */
  readonly sent?: string;
}

interface LiveReportsOptions {
  /** The label of the Reports of Reeve. */
  readonly label: string;
  readonly digestOf: (report: KubeObject) => string;
  /** Called with the namespace of a Report that others have written or deleted. Undefined: all namespaces. */
  readonly changed: (namespace: string | undefined) => void;
}

export class LiveReports {
  readonly sink: WatchSink;
  readonly #options: LiveReportsOptions;
  readonly #reports = new Map<string, LiveReport>();
  #isServed = false;

  constructor(options: LiveReportsOptions) {
    this.#options = options;
    this.sink = {
      replaced: (objects, resourceVersion) => {
        this.#isServed = resourceVersion !== unservedVersion;
        this.#reports.clear();
        for (const object of objects) this.#reports.set(namespaceOf(object), this.#observed(object));
        options.changed(undefined);
      },
      changed: (object) => this.#changed(namespaceOf(object), this.#observed(object)),
      removed: (object) => {
        if (this.#reports.delete(namespaceOf(object))) options.changed(namespaceOf(object));
      },
    };
  }

  /** True while the API server serves the kind, as far as the watch knows. */
  get isServed(): boolean {
    return this.#isServed;
  }

  get(namespace: string): LiveReport | undefined {
    return this.#reports.get(namespace);
  }

  /** Records the answer of the API server to a write. */
  stored(report: KubeObject, sent: string): void {
    this.#reports.set(namespaceOf(report), { ...this.#observed(report), sent });
  }

  removed(namespace: string): void {
    this.#reports.delete(namespace);
  }

  #changed(namespace: string, now: LiveReport): void {
    const { sent: _sent, ...before } = this.#reports.get(namespace) ?? {};
    if (isDeepStrictEqual(before, now)) return;
    this.#reports.set(namespace, now);
    this.#options.changed(namespace);
  }

  #observed(report: KubeObject): LiveReport {
    const { label, digestOf } = this.#options;
    const isOurs = valueOf(labelsOf(report), label) === 'true';
    return { uid: report.metadata.uid ?? '', isOurs, digest: digestOf(report) };
  }
}

function namespaceOf({ metadata: { namespace = '' } }: KubeObject): string {
  return namespace;
}
