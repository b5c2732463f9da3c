// Sends requests that need a review without pause, as users of a cluster do, and counts the outcomes.
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { until } from '../../support/until.ts';

export class ReviewTraffic {
  /** The number of requests at the same time. */
  readonly lanes = 4;
  readonly #cluster: ClusterAccess;
  readonly #prefix: string;
  readonly #outcomes = new Map<string, number>();
  readonly #working: Promise<unknown>;
  #isOver = false;
  #count = 0;

  /** Starts at once: sends dry runs of new namespaces whose names begin with the prefix. */
  constructor(cluster: ClusterAccess, prefix: string) {
    this.#cluster = cluster;
    this.#prefix = prefix;
    this.#working = Promise.all(Array.from({ length: this.lanes }, () => this.#ask()));
  }

  /** Resolves when this many more requests have been answered. */
  async answered(count: number): Promise<void> {
    const target = this.#answered + count;
    await until(
      () => Promise.resolve(this.#answered >= target),
      () => `${target} answers: ${JSON.stringify(this.outcomes)}`,
    );
  }

  /** The number of each outcome so far. `201 {"team":"fa"}` shows the labels that the namespace would get. */
  get outcomes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#outcomes);
  }

  get #answered(): number {
    return [...this.#outcomes.values()].reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<Readonly<Record<string, number>>> {
    this.#isOver = true;
    await this.#working;
    return this.outcomes;
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      this.#count += 1;
      const metadata = { name: `${this.#prefix}${this.#count}` };
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
      const outcome = await this.#outcomeOf(body);
      this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    }
  }

  async #outcomeOf(namespace: object): Promise<string> {
    const { status, body } = await this.#cluster.admin.send(
      'POST',
      '/api/v1/namespaces?dryRun=All',
      namespace,
    );
    const { metadata, message } = body as {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly message?: string;
    };
    if (status !== 201) return `${status} ${message}`;
    const { 'kubernetes.io/metadata.name': _, ...labels } = metadata?.labels ?? {};
    return `${status} ${JSON.stringify(labels)}`;
  }
}
