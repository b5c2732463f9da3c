// One process of Reeve in the soak. After each end it starts again on the same ports.
import { existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Component } from '../cluster/component.ts';
import type { Guard } from '../cluster/guard.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { until } from '../support/until.ts';
import type { VitalSigns } from './vital-signs.ts';

const repository = join(import.meta.dirname, '..', '..');
const preload = join(import.meta.dirname, 'vital-signs.ts');

/** The time for the drain grace and open requests. Kubernetes kills the process not much later. */
const patienceMs = 18_000;

export interface ReplicaOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly port: number;
  readonly probesPort: number;
  /** The proxy between this process and the API server. */
  readonly proxy: FaultProxy;
  /** The folder for logs and notes. */
  readonly folder: string;
  readonly guard: Guard;
}

export class Replica {
  readonly name: string;
  readonly port: number;
  readonly probesPort: number;
  readonly proxy: FaultProxy;
  /** All pids of this replica. The last one is the pid of the current process. */
  readonly lives: number[] = [];
  readonly #folder: string;
  readonly #guard: Guard;
  readonly #component: Component;
  #takesSamples = false;
  #mayEnd = false;

  constructor({ name, args, port, probesPort, proxy, folder, guard }: ReplicaOptions) {
    this.name = name;
    this.port = port;
    this.probesPort = probesPort;
    this.proxy = proxy;
    this.#folder = folder;
    this.#guard = guard;
    const node = ['--expose-gc', '--import', preload, join(repository, 'src', 'main.ts')];
    this.#component = new Component(
      { name, program: process.execPath, args: [...node, ...args], cwd: repository },
      folder,
    );
  }

  /** Resolves once the process is ready. */
  async start(): Promise<void> {
    await this.#component.start(this.#guard, this.#folder);
    this.#mayEnd = false;
    const pid = this.#component.process?.pid;
    if (pid !== undefined) this.lives.push(pid);
    await until(
      async () => !this.isRunning || (await this.isReady()),
      () => `${this.name} is ready: ${this.output.slice(-2000)}`,
    );
    if (!this.isRunning) throw new Error(`${this.name} ended: ${this.output.slice(-2000)}`);
    this.#takesSamples = true;
  }

  /** Rejects when the process does not end by itself. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#takesSamples = false;
    this.#mayEnd = true;
    const began = performance.now();
    await this.#component.stop(signal);
    const milliseconds = performance.now() - began;
    if (milliseconds > patienceMs) throw new Error(`${this.name} took ${milliseconds} ms to end`);
  }

  pause(): void {
    this.#component.pause();
  }

  resume(): void {
    this.#component.resume();
  }

  get isRunning(): boolean {
    return this.#component.isRunning;
  }

  /** True when the process ended by itself. */
  get hasFallen(): boolean {
    return !this.#mayEnd && this.lives.length > 0 && !this.isRunning;
  }

  async isReady(): Promise<boolean> {
    return (await this.#get('/readyz')).code === 200;
  }

  /** Returns undefined when the process does not answer. */
  async metrics(): Promise<string | undefined> {
    const { code, body } = await this.#get('/metrics');
    return code === 200 ? body : undefined;
  }

  async leads(): Promise<boolean> {
    return isLeader((await this.metrics()) ?? '');
  }

  /** The output of all processes of this replica. */
  get output(): string {
    const file = join(this.#folder, `${this.name}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  /** Requests a sample. The process writes it as soon as it can. */
  takeSample(): void {
    const pid = this.#component.process?.pid;
    if (this.#takesSamples && this.isRunning && pid !== undefined) process.kill(pid, 'SIGUSR2');
  }

  samplesOf(pid: number): readonly VitalSigns[] {
    const file = join(this.#folder, `vital-signs-${pid}.jsonl`);
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as VitalSigns);
  }

  async #get(path: string): Promise<{ readonly code: number; readonly body: string }> {
    const { promise, resolve } = Promise.withResolvers<{ code: number; body: string }>();
    const none = { code: 0, body: '' };
    const options = { host: '127.0.0.1', port: this.probesPort, path, agent: false, timeout: 2000 };
    const sent = get(options, (response) => {
      text(response).then(
        (body) => resolve({ code: response.statusCode ?? 0, body }),
        () => resolve(none),
      );
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(none));
    return await promise;
  }
}

/** Takes the metrics of a reconciler. */
export function isLeader(metrics: string): boolean {
  return /^reeve_leader 1$/m.test(metrics);
}
