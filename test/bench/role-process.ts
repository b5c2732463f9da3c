// One role of Reeve as the image runs it: the bundle, with the heap limit of the chart. Reads what the process uses.
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import type { Guard } from '../cluster/guard.ts';
import { freePorts } from '../cluster/ports.ts';
import { roleKubeconfig, type Role } from '../cluster/reeve-rights.ts';
import { send } from '../cluster/admin-client.ts';
import { imageNodeFlags } from '../image/node-flags.ts';
import { flagsOf } from '../support/reeve.ts';
import { startGuarded, type GuardedProcess } from './guarded-process.ts';
import { forgetPeak, peakMiB, processorMs, residentMiB } from './process-use.ts';

const kibibyte = 1024;

/** Three quarters of the memory limit of the chart. */
const heapMiB = { webhook: 384, reconciler: 768, all: 768 };

export interface Use {
  readonly cpuSeconds: number;
  /** Resident memory now, and the largest since `forgetPeak`, in MiB. */
  readonly rss: number;
  readonly peak: number;
  readonly heap: number;
}

export interface RoleOptions {
  readonly role: Role;
  /** The name of the log file. Default: the role. */
  readonly name?: string;
  readonly cluster: ClusterAccess;
  readonly guard: Guard;
  /** The bundled program. */
  readonly program: string;
  readonly nodeFlags?: readonly string[];
  /** Default: any core. */
  readonly core?: number;
}

export class RoleProcess implements AsyncDisposable {
  readonly name: string;
  readonly #process: GuardedProcess;
  readonly #probes: string;

  private constructor(name: string, process: GuardedProcess, probes: string) {
    this.name = name;
    this.#process = process;
    this.#probes = probes;
  }

  /** Returns the process before it is ready. */
  static async start(options: RoleOptions): Promise<RoleProcess> {
    const { role, name = role, cluster, guard, program, nodeFlags = [], core } = options;
    const [port = 0, probesPort = 0] = await freePorts(2);
    const kubeconfig = await roleKubeconfig(cluster, role);
    const flags = flagsOf({ role, kubeconfig, port, probesPort, servicePort: port });
    const node = [...imageNodeFlags(), ...nodeFlags, `--max-old-space-size=${heapMiB[role]}`, program];
    // No API server calls the webhook any more when a measurement ends it.
    const args = [...node, ...flags, '--log-level=info', '--drain-grace=0s'];
    const pinned = core === undefined ? {} : { core };
    const command = { name, program: process.execPath, args, folder: cluster.folder, ...pinned };
    const started = await startGuarded(command, guard);
    return new RoleProcess(name, started, `http://127.0.0.1:${probesPort}`);
  }

  async ready(): Promise<void> {
    await this.#process.ready(async () => (await send(`${this.#probes}/readyz`, {})).status === 200);
  }

  async stop(): Promise<void> {
    await this.#process.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Returns the sum of the samples of one metric whose labels match. */
  async sum(metric: string, labels = ''): Promise<number> {
    return sumOf(String((await send(`${this.#probes}/metrics`, {})).body), metric, labels);
  }

  async use(): Promise<Use> {
    const heap = (await this.sum('nodejs_heap_size_used_bytes')) / kibibyte ** 2;
    return { cpuSeconds: this.processorMs() / 1000, heap, rss: this.residentMiB(), peak: peakMiB(this.#pid) };
  }

  residentMiB(): number {
    return residentMiB(this.#pid);
  }

  /** Returns the processor time of the process so far, without a request to it. */
  processorMs(): number {
    return processorMs(this.#pid);
  }

  forgetPeak(): void {
    forgetPeak(this.#pid);
  }

  get #pid(): number {
    return this.#process.pid;
  }
}

/** Returns the sum of the samples of a metric that have this part of a label set, in the text format of Prometheus. */
export function sumOf(metrics: string, metric: string, labels = ''): number {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
