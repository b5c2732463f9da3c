// Runs Reeve on a real control plane as it ships: with its manifests and service accounts, in processes from source.
import { ReeveProcess, type Output } from './serve-process.ts';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import { freePorts } from '../cluster/ports.ts';
import { roleKubeconfig, type Role } from '../cluster/reeve-rights.ts';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { until } from './until.ts';

export interface ReeveOptions {
  readonly role?: Role;
  /** The port of an earlier process, so that the webhook configurations need no change. */
  readonly port?: number;
  /** The port that API servers call: the port of a balancer before several replicas. Default: the port of this process. */
  readonly servicePort?: number;
  readonly args?: readonly string[];
  /** The kubeconfig with which Reeve finds the API server as its service account. Default: a direct connection. */
  readonly kubeconfig?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The file descriptor that receives the log. The log is then not part of `output`. */
  readonly log?: number;
}

export class Reeve {
  readonly port: number;
  readonly probesPort: number;
  readonly #process: ReeveProcess;

  constructor(process: ReeveProcess, port: number, probesPort: number) {
    this.#process = process;
    this.port = port;
    this.probesPort = probesPort;
  }

  /** The complete output of the process, including its log. */
  get output(): string {
    return `${this.#process.stdout}${this.#process.stderr}`;
  }

  get hasEnded(): boolean {
    return this.#process.hasEnded;
  }

  async isReady(): Promise<boolean> {
    return (await this.#get('/readyz')).code === 200;
  }

  async metrics(): Promise<string> {
    return (await this.#get('/metrics')).body;
  }

  /** Returns the value of a sample such as `reeve_leader` or `name{label="value"}`. Undefined without such a sample. */
  async metric(sample: string): Promise<number | undefined> {
    const line = (await this.metrics()).split('\n').find((each) => each.startsWith(`${sample} `));
    return line === undefined ? undefined : Number(line.slice(sample.length + 1));
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async ended(): Promise<Output> {
    return await this.#process.ended();
  }

  /** Ends the process as Kubernetes ends a Pod. */
  async stop(): Promise<Output> {
    this.#process.kill('SIGTERM');
    return await this.#process.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }

  async #get(path: string): Promise<{ readonly code: number; readonly body: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ code: number; body: string }>();
    get({ host: '127.0.0.1', port: this.probesPort, path, agent: false }, (response) => {
      text(response).then((body) => resolve({ code: response.statusCode ?? 0, body }), reject);
    }).on('error', () => resolve({ code: 0, body: '' }));
    return await promise;
  }
}

interface Whereabouts {
  readonly role: Role;
  readonly kubeconfig: string;
  readonly port: number;
  readonly probesPort: number;
  readonly servicePort: number;
}

/** Returns the flags of every Reeve in a test: its addresses, and the lowest log level. */
export function flagsOf({ role, kubeconfig, port, probesPort, servicePort }: Whereabouts): readonly string[] {
  return [
    'run',
    `--role=${role}`,
    `--kubeconfig=${kubeconfig}`,
    '--host=127.0.0.1',
    `--port=${port}`,
    `--probes-port=${probesPort}`,
    `--service-port=${servicePort}`,
    '--log-level=debug',
  ];
}

/** A Reeve without options of its own, which waits for the next file of this worker. */
let kept: Reeve | undefined;

export function keepReeve(reeve: Reeve): void {
  kept = reeve;
}

/** Returns the Reeve that an earlier file has kept. Undefined when there is none, or its process has ended. */
export function keptReeve(): Reeve | undefined {
  const found = kept;
  kept = undefined;
  return found?.hasEnded === true ? undefined : found;
}

/** Starts Reeve without waiting until it is ready. A kept one ends first, because both would register the webhooks. */
export async function spawnReeve(cluster: ClusterAccess, options: ReeveOptions = {}): Promise<Reeve> {
  await keptReeve()?.stop();
  const { role = 'all', args = [] } = options;
  const [freePort = 0, probesPort = 0] = await freePorts(2);
  const port = options.port ?? freePort;
  const kubeconfig = await roleKubeconfig(cluster, role, options.kubeconfig);
  const servicePort = options.servicePort ?? port;
  const flags = [
    ...flagsOf({ role, kubeconfig, port, probesPort, servicePort }),
    '--drain-grace=0s',
    ...args,
  ];
  const process = new ReeveProcess(flags, options.env, options.log);
  return new Reeve(process, port, probesPort);
}

/** Waits until Reeve is ready and, for a webhook, until API servers call it. */
export async function startReeve(cluster: ClusterAccess, options: ReeveOptions = {}): Promise<Reeve> {
  const reeve = await spawnReeve(cluster, options);
  try {
    await until(
      async () => reeve.hasEnded || (await reeve.isReady()),
      () => `ready: ${reeve.output}`,
    );
    if (reeve.hasEnded) throw new Error(`it ended: ${reeve.output}`);
    if (options.role !== 'reconciler') await webhookIsAsked(cluster);
  } catch (error) {
    await reeve[Symbol.asyncDispose]();
    throw error;
  }
  return reeve;
}

/** Sends an invalid policy until the webhook refuses it. From then on API servers call the webhook. */
export async function webhookIsAsked(cluster: ClusterAccess): Promise<void> {
  const policy = {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'NamespacePolicy',
    metadata: { name: 'is-the-webhook-asked' },
    spec: { match: { matchConditions: [{ name: 'x', expression: 'namespaceObject.' }] } },
  };
  const path = '/apis/reeve.dev/v1alpha1/namespacepolicies?dryRun=All';
  let last = '';
  await until(
    async () => {
      const { status, body } = await cluster.admin.send('POST', path, policy);
      last = `${status} ${JSON.stringify(body)}`;
      return /^403 .*admission webhook/.test(last);
    },
    () => `the webhook is asked: ${last}`,
  );
}
