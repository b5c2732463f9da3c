// Runs a reconciler on a cluster in memory, with a clock that only the test advances.
import { setImmediate } from 'node:timers/promises';
import { KubeError } from '../../src/base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../src/base/metadata.ts';
import { apiVersion } from '../../src/schema/names.ts';
import { decidingKinds, type Kind } from '../../src/api/kinds.ts';
import type { ObjectType } from '../../src/base/object-type.ts';
import type { ProviderId, ProviderState } from '../../src/policy/terms/provider-id.ts';
import { createReconciler, type Reconciler, type ReconcilerOptions } from '../../src/reconcile/controller.ts';
import type { SelfReviewer } from '../../src/reconcile/ports.ts';
import type { RecordedEvent } from '../../src/base/recorded-event.ts';
import { LiveCluster } from '../../src/state/live-cluster.ts';
import type { IntentAdapter } from '../../src/policy/intents/adapter.ts';
import { installOf, type Install } from '../../src/policy/terms/install.ts';
import { MemoryCluster, type Write } from './memory-cluster.ts';
import { observerOf } from './reconcile-context.ts';
import { VirtualClock } from './virtual-clock.ts';

type OwnRight = Parameters<SelfReviewer['mayDo']>[0];

export const start = new Date('2026-11-21T12:00:00Z');
const testInstall: Install = installOf({
  namespace: 'reeve-system',
  sharedNamespace: ['reeve-shared'],
  excludeNamespace: [],
  resourceKind: ['v1/ResourceQuota'],
});

const maxTurns = 1000;

export interface HarnessOptions extends Omit<Partial<ReconcilerOptions>, 'install'> {
  readonly install?: Partial<Install>;
}

export interface HarnessCluster {
  readonly unserved?: readonly string[];
  readonly adapters?: readonly IntentAdapter[];
}

/** Everything that left the reconciler except writes. Tests search it for payloads. */
export interface Recorded {
  readonly events: RecordedEvent[];
  readonly observed: (readonly [string, ...unknown[]])[];
  readonly errors: { readonly where: string; readonly error: unknown }[];
}

export class Harness {
  readonly clock = new VirtualClock({ start, chance: 0.5 });
  readonly memory: MemoryCluster;
  readonly told: Recorded = { events: [], observed: [], errors: [] };
  terminatingKinds: readonly Kind[] = [];
  /** Rights that the account of the reconciler lacks: `bind clusterroles view`, `create secrets`. */
  readonly rights = new Map<string, 'no' | 'unknown'>();
  /** The rights that the reconciler asked about. */
  readonly asked: string[] = [];
  readonly #options: HarnessOptions;
  #run: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined;
  #reconciler: Reconciler | undefined;
  #cluster: LiveCluster | undefined;

  readonly #unserved: Set<string>;
  readonly #adapters: readonly IntentAdapter[] | undefined;

  constructor(
    options: HarnessOptions = {},
    memory?: MemoryCluster,
    { unserved = [], adapters }: HarnessCluster = {},
  ) {
    this.#options = options;
    this.#unserved = new Set(unserved);
    this.#adapters = adapters;
    this.memory = memory ?? new MemoryCluster(() => this.clock.now());
  }

  get reconciler(): Reconciler {
    if (this.#reconciler === undefined) throw new Error('the reconciler has not been started');
    return this.#reconciler;
  }

  /** Returns what the watches have told the reconciler of a policy or share. */
  known(provider: ProviderId): ProviderState | undefined {
    return this.#cluster?.snapshot().providers.get(provider);
  }

  /** Starts a new reconciler, as a new process would. */
  start(): void {
    const install = { ...testInstall, ...this.#options.install };
    const cluster = new LiveCluster({
      install,
      ...(this.#adapters === undefined ? {} : { adapters: this.#adapters }),
    });
    const reconciler = createReconciler({
      cluster,
      writer: this.memory,
      ownSecrets: this.memory,
      ownedReader: this.memory,
      auditReader: this.memory,
      kinds: {
        isKindTerminating: async (kind) => await Promise.resolve(this.terminatingKinds.includes(kind)),
      },
      selfReviewer: { mayDo: (right) => this.#mayDo(right) },
      events: { record: (event) => this.told.events.push(event), yieldTo: () => undefined },
      observer: observerOf((name, ...values) => this.#observed(name, values)),
      clock: this.clock,
      ...this.#options,
      install,
    });
    for (const { kind } of decidingKinds)
      this.memory.watch({ type: { apiVersion, kind }, sink: cluster.sinks[kind] });
    this.memory.watch({ type: { apiVersion: 'v1', kind: 'Namespace' }, sink: cluster.namespaces });
    for (const watch of reconciler.watches)
      if (!this.#unserved.has(watch.type.kind)) this.memory.watch(watch);
    this.#reconciler = reconciler;
    this.#cluster = cluster;
    this.rerun();
  }

  /** The existing process becomes the leader. */
  rerun(): void {
    const abort = new AbortController();
    this.#run = { abort, ended: this.reconciler.run(abort.signal) };
  }

  /** Discovery answers whether the API server serves kinds of security engines. */
  setServed(...answers: readonly (readonly [ObjectType, boolean])[]): void {
    this.#cluster?.setServed(answers);
  }

  /** The API server begins to serve a kind. */
  serve(kind: string): void {
    this.#unserved.delete(kind);
    for (const watch of this.reconciler.watches) if (watch.type.kind === kind) this.memory.watch(watch);
  }

  async stop(): Promise<void> {
    this.#run?.abort.abort();
    await this.#run?.ended;
    this.#run = undefined;
  }

  async end(): Promise<void> {
    await this.stop();
    // Errors of requests are expected. All other errors fail the test.
    const failed = this.told.errors.find(({ error }) => !(error instanceof KubeError));
    if (failed !== undefined) throw new Error('the reconciler had an internal error', { cause: failed });
  }

  /** Resolves when no key is ready, and no delayed key is due within so long. */
  async settle(horizonMs = 3000): Promise<void> {
    for (let turns = 0; ; turns += 1) {
      if (turns > maxTurns) throw new Error('the reconciler does not settle');
      await this.quiet();
      const { nextDue } = this.reconciler.health();
      const wait = nextDue === undefined ? Infinity : nextDue - this.clock.monotonic();
      const isStarting = !this.reconciler.health().isInitialSyncDone;
      if (wait > horizonMs && !isStarting) return;
      await this.clock.advance(wait > horizonMs ? 20 : Math.max(wait, 0));
    }
  }

  /** Resolves when no key is ready or running at this moment. */
  async quiet(): Promise<void> {
    for (let calm = 0, turns = 0; calm < 3; calm += 1, turns += 1) {
      if (turns > 10 * maxTurns) throw new Error('the reconciler does not become idle');
      await setImmediate();
      if (this.memory.isLagging) this.memory.deliver();
      if (this.memory.hasNews || !this.reconciler.health().isIdle) calm = 0;
    }
  }

  /** Returns the writes of Reeve since the last call. */
  takeWrites(): readonly Write[] {
    return this.memory.writes.splice(0).filter(({ by }) => by === 'reeve');
  }

  namespace(
    name: string,
    labels: Readonly<Record<string, string>> = {},
    annotations?: Record<string, string>,
  ): void {
    const metadata = { name, labels, ...(annotations === undefined ? {} : { annotations }) };
    this.memory.put({ apiVersion: 'v1', kind: 'Namespace', metadata });
  }

  policy(name: string, spec: object, annotations: Readonly<Record<string, string>> = {}): void {
    this.memory.put({
      apiVersion,
      kind: 'NamespacePolicy',
      metadata: { name, annotations },
      spec: withDefaults(spec),
    });
  }

  share(name: string, spec: object, annotations: Readonly<Record<string, string>> = {}): void {
    this.memory.put({
      apiVersion,
      kind: 'SecretShare',
      metadata: { name, annotations },
      spec: withDefaults(spec),
    });
  }

  secret(namespace: string, name: string, data: Readonly<Record<string, string>>, more: object = {}): void {
    this.memory.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name },
      type: 'Opaque',
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, btoa(text)])),
      ...more,
    });
  }

  get(kind: string, name: string, namespace?: string): KubeObject | undefined {
    return this.memory.get(refTo(kind, name, namespace));
  }

  status(kind: Kind, name: string): Record<string, unknown> {
    return (this.get(kind, name)?.['status'] ?? {}) as Record<string, unknown>;
  }

  condition(kind: string, name: string, type = 'Ready'): Record<string, unknown> | undefined {
    const status = this.get(kind, name)?.['status'] as { conditions?: Record<string, unknown>[] } | undefined;
    return status?.conditions?.find((each) => each['type'] === type);
  }

  #mayDo({ verb, resource, namespace, name }: OwnRight): Promise<'yes' | 'no' | 'unknown'> {
    const question = [verb, resource, namespace, name].filter((each) => each !== undefined).join(' ');
    this.asked.push(question);
    return Promise.resolve(this.rights.get(question) ?? 'yes');
  }

  #observed(name: string, values: readonly unknown[]): void {
    const [where, error] = values;
    if (name === 'unexpectedError') this.told.errors.push({ where: String(where), error });
    else if (name !== 'reconciled') this.told.observed.push([name, ...values]);
  }
}

export function refTo(kind: string, name: string, namespace?: string): ObjectRef {
  const versions: Record<string, string> = {
    NamespacePolicy: apiVersion,
    SecretShare: apiVersion,
    RoleBinding: 'rbac.authorization.k8s.io/v1',
  };
  return {
    apiVersion: versions[kind] ?? 'v1',
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** Adds the defaults that the API server adds. */
function withDefaults(spec: object): object {
  return { deletionPolicy: 'Delete', maxDeletions: 20, suspend: false, ...spec };
}
