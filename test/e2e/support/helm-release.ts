// A release of the chart on a control plane without nodes, where the test stands in for the kubelet.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../../cluster/control-plane.ts';
import { chartFolder, mustHelm, type Helm } from '../../cluster/helm/helm.ts';
import { kubectl, mustKubectl } from '../../support/kubectl.ts';
import { ReeveProcess, type Output } from '../../support/serve-process.ts';
import { until } from '../../support/until.ts';

export const release: { readonly name: string; readonly namespace: string } = {
  name: 'reeve',
  namespace: 'reeve-system',
};

/** Without a kubelet no Pod ends, and Helm would wait for the Pod that sees that rules are enforced. */
const noPods = ['--set', 'waitUntilEnforced=false'];

export class HelmRelease {
  readonly #helm: Helm;
  readonly #plane: ControlPlane;
  readonly #release: typeof release;

  constructor(helm: Helm, plane: ControlPlane, named = release) {
    this.#helm = helm;
    this.#plane = plane;
    this.#release = named;
  }

  async install(values: object = {}, chart = chartFolder, ...flags: readonly string[]): Promise<string> {
    const args = [
      'install',
      this.#release.name,
      chart,
      '--create-namespace',
      '--values',
      '-',
      ...noPods,
      ...flags,
    ];
    return await this.#run(args, values);
  }

  async upgrade(values: object, chart = chartFolder, ...flags: readonly string[]): Promise<string> {
    return await this.#run(['upgrade', this.#release.name, chart, '--values', '-', ...flags], values);
  }

  async rollback(): Promise<string> {
    return await this.#run(['rollback', this.#release.name]);
  }

  async uninstall(...flags: readonly string[]): Promise<string> {
    return await this.#run(['uninstall', this.#release.name, ...flags]);
  }

  async #run(args: readonly string[], values: object = {}): Promise<string> {
    const { kubeconfig } = this.#plane;
    const flags = ['--namespace', this.#release.namespace];
    const options = { kubeconfig, input: JSON.stringify(values) };
    return await mustHelm(this.#helm, [...args, ...flags], options);
  }
}

interface Job {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly { readonly args: readonly string[] }[];
      };
    };
  };
}

export interface JobOutput extends Output {
  /** What the account of the Job may do, besides what every account may. */
  readonly rights: readonly string[];
}

/** Runs the program of a Job from source, with the account of the Job, and reports its success as a kubelet would. */
export async function runJob(plane: ControlPlane, name: string): Promise<JobOutput> {
  const get = ['get', 'job', name, '-n', release.namespace, '-o=json'];
  await until(
    async () => (await kubectl(get, plane)).code === 0,
    () => `Job ${name} exists`,
  );
  const { spec } = (JSON.parse(await mustKubectl(get, plane)) as Job).spec.template;
  const account = await plane.tokenKubeconfig(release.namespace, spec.serviceAccountName);
  const rights = await rightsOf(account);
  await using process = new ReeveProcess([...(spec.containers[0]?.args ?? []), `--kubeconfig=${account}`]);
  const output = await process.ended();
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = (type: string): object => ({
    type,
    status: 'True',
    lastProbeTime: now,
    lastTransitionTime: now,
  });
  const conditions = [condition('SuccessCriteriaMet'), condition('Complete')];
  const status = { startTime: now, completionTime: now, succeeded: 1, ready: 0, conditions };
  const patch = ['patch', 'job', name, '-n', release.namespace, '--subresource=status', '--type=merge'];
  if (output.code === 0) await mustKubectl([...patch, '-p', JSON.stringify({ status })], plane);
  return { ...output, rights };
}

async function rightsOf(kubeconfig: string): Promise<readonly string[]> {
  const listed = await mustKubectl(['auth', 'can-i', '--list', '--no-headers'], { kubeconfig });
  return listed
    .split('\n')
    .map((line) => line.trim().replaceAll(/ +/g, ' '))
    .filter((line) => line !== '' && !line.startsWith('self') && !line.startsWith('['))
    .toSorted();
}

/** A copy of the chart that the test may change. */
export async function copiedChart(): Promise<AsyncDisposable & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-chart-'));
  await cp(chartFolder, folder, { recursive: true });
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
