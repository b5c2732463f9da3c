// One role of Reeve as the image runs it: the bundle, with the heap limit of the chart. Reads what the process uses.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { Component } from '../cluster/component.ts';
import type { Guard } from '../cluster/guard.ts';
import { freePorts } from '../cluster/ports.ts';
import { waitUntilReady } from '../cluster/readiness.ts';
import { roleKubeconfig, type Role } from '../cluster/reeve-rights.ts';
import { send } from '../cluster/admin-client.ts';
import { imageNodeFlags } from '../image/node-flags.ts';
import { flagsOf } from '../support/reeve.ts';

const root = join(import.meta.dirname, '..', '..');
const mebibyte = 1024;

/** Three quarters of the memory limit of the chart. */
const heapMiB = { webhook: 384, reconciler: 768, all: 768 };

export interface Use {
  readonly cpuSeconds: number;
  /** Resident memory now, and the largest since `forgetPeak`, in MiB. */
  readonly rss: number;
  readonly peak: number;
  readonly heap: number;
}

export class SizedProcess {
  readonly name: string;
  readonly #component: Component;
  readonly #probes: string;

  private constructor(name: string, component: Component, probes: string) {
    this.name = name;
    this.#component = component;
    this.#probes = probes;
  }

  /** Returns the process before it is ready. `program`: the bundled program. */
  static async start(
    name: string,
    role: Role,
    cluster: ClusterAccess,
    guard: Guard,
    program = join(root, 'dist/bin/main.cjs'),
    nodeFlags: readonly string[] = [],
  ): Promise<SizedProcess> {
    const [port = 0, probesPort = 0] = await freePorts(2);
    const kubeconfig = await roleKubeconfig(cluster, role);
    const flags = flagsOf({ role, kubeconfig, port, probesPort, servicePort: port });
    const node = [...imageNodeFlags(), ...nodeFlags, `--max-old-space-size=${heapMiB[role]}`, program];
    // No API server calls the webhook any more when a measurement ends it.
    const args = [...node, ...flags, '--log-level=info', '--drain-grace=0s'];
    const component = new Component({ name, program: process.execPath, args, cwd: root }, cluster.folder);
    await component.start(guard, cluster.folder);
    return new SizedProcess(name, component, `http://127.0.0.1:${probesPort}`);
  }

  async ready(): Promise<void> {
    await waitUntilReady(
      this.#component,
      async () => (await send(`${this.#probes}/readyz`, {})).status === 200,
    );
  }

  async stop(): Promise<void> {
    await this.#component.stop();
  }

  /** Returns the sum of the samples of one metric whose labels match. */
  async sum(metric: string, labels = ''): Promise<number> {
    return sumOf(String((await send(`${this.#probes}/metrics`, {})).body), metric, labels);
  }

  async use(): Promise<Use> {
    const cpuSeconds = await this.sum('process_cpu_seconds_total');
    const heap = (await this.sum('nodejs_heap_size_used_bytes')) / mebibyte ** 2;
    return { cpuSeconds, heap, rss: this.#memory('VmRSS'), peak: this.#memory('VmHWM') };
  }

  /**
   * Returns the processor time of the process so far, without a request to it. The ticks are hundredths of a second:
   * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
   */
  processorMs(): number {
    const stat = readFileSync(`/proc/${this.#pid}/stat`, 'utf8');
    // The second field is the name in parentheses, which may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  /** https://man7.org/linux/man-pages/man5/proc_pid_clear_refs.5.html */
  forgetPeak(): void {
    writeFileSync(`/proc/${this.#pid}/clear_refs`, '5');
  }

  get #pid(): number {
    const pid = this.#component.process?.pid;
    if (pid === undefined) throw new Error(`${this.name} does not run`);
    return pid;
  }

  #memory(line: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
    return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / mebibyte;
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
