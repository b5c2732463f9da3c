// A control plane with real nodes, each in namespaces of its own: starts it, uses it from outside, and ends it.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { findBinary } from '../binary.ts';
import { openCluster, type ClusterAccess } from '../cluster-access.ts';
import { makeFolder } from '../folder.ts';
import { freePorts } from '../ports.ts';
import { endProcess, identify, isRunning, type ProcessIdentity } from '../process-identity.ts';
import { readJsonFile, writeJsonFile } from '../json-file.ts';
import { processesBelow, removeCgroups } from './cgroups.ts';
import { initOf } from './namespaces.ts';
import { linkOf, rigNodes, type RigNode } from './node-files.ts';
import { installPrograms, nodeProblem, pathOfRoot } from './packages.ts';
import { packedPause } from './pause-image.ts';
import { findNodePrograms } from './programs.ts';
import { rigLayout, type RigSettings, type RigState } from './rig-files.ts';

type Say = (text: string) => void;

export interface RigOptions {
  /** With 0, the rig is a control plane alone. */
  readonly nodes: number;
  /** A path that must not exist yet. Default: a new temporary folder. */
  readonly folder?: string;
  /** True (default): the rig ends when the process that started it dies without stopping it. */
  readonly endsWithUs?: boolean;
}

/** A keeper needs seconds to end the namespaces, and to remove the folder with the files of all containers. */
const endPatienceMs = 60_000;

const call = promisify(execFile);

export async function startRig(options: RigOptions, say: Say = () => undefined): Promise<NodeRig> {
  const path = process.env['PATH'] ?? '';
  await installPrograms(path, say);
  const problem = nodeProblem(path);
  if (problem !== undefined) throw new Error(problem);
  const [binary, programs] = [await findBinary(process.env, say), await findNodePrograms(process.env, say)];
  if (binary.kind !== 'built' || programs === undefined) throw new Error('a node needs Go on the PATH');
  const folder = await makeFolder(options.folder);
  const [port = 0] = await freePorts(1);
  const settings: RigSettings = {
    folder,
    port,
    binary,
    nodes: options.nodes,
    parts: programs.parts,
    pause: await packedPause(programs.pause),
    path: pathOfRoot(path),
  };
  await writeJsonFile(rigLayout(folder).settings, settings);
  const keeper = startKeeper(folder, options.endsWithUs ?? true);
  return await readyRig(folder, keeper);
}

/** Returns undefined unless a rig runs in the folder. */
export async function openRig(folder: string): Promise<NodeRig | undefined> {
  const layout = rigLayout(folder);
  const state = await readJsonFile<RigState>(layout.state);
  const settings = await readJsonFile<RigSettings>(layout.settings);
  if (state === undefined || settings === undefined || !isRunning(state.keeper)) return undefined;
  const cluster = await openCluster(layout.plane);
  return cluster === undefined || !existsSync(layout.ready)
    ? undefined
    : new NodeRig(cluster, settings, state);
}

/** Ends the rig in the folder, or removes what is left of it. Returns false when there was none. */
export async function endRig(folder: string): Promise<boolean> {
  const existed = existsSync(folder);
  const state = await readJsonFile<RigState>(rigLayout(folder).state);
  if (state !== undefined) {
    await endProcess(state.keeper, endPatienceMs);
    await removeCgroups(state.cgroups);
  }
  await rm(folder, { recursive: true, force: true });
  return existed;
}

export class NodeRig {
  readonly cluster: ClusterAccess;
  readonly nodes: readonly RigNode[];
  readonly #settings: RigSettings;
  readonly #state: RigState;

  constructor(cluster: ClusterAccess, settings: RigSettings, state: RigState) {
    this.cluster = cluster;
    this.nodes = rigNodes(settings.folder, settings.nodes);
    this.#settings = settings;
    this.#state = state;
  }

  get folder(): string {
    return this.#settings.folder;
  }

  /** The process whose end ends the rig. */
  get keeper(): ProcessIdentity {
    return this.#state.keeper;
  }

  /** Puts the image of an OCI archive on every node, also under a second name, as if it came from a registry. */
  async importImage(archive: string, image: string, alias: string): Promise<void> {
    const images = ['ctr', '-n', 'k8s.io', 'images'];
    for (const node of this.nodes) {
      await this.#inside(this.#initOf(node), [...images, 'import', archive]);
      await this.#inside(this.#initOf(node), [...images, 'tag', '--force', image, alias]);
    }
  }

  /** Cuts the node's link: nothing that it sends arrives, and its connections stay open. */
  async cutOff(node: RigNode): Promise<void> {
    await this.#link(node, 'down');
  }

  async rejoin(node: RigNode): Promise<void> {
    await this.#link(node, 'up');
  }

  /** Sends a signal to the first process of the Pod's container. */
  async killContainer(node: RigNode, pod: string): Promise<void> {
    const script = `set -e; c=$(ctr -n k8s.io containers ls -q "labels.\\"io.kubernetes.pod.name\\"==${pod},labels.\\"io.cri-containerd.kind\\"==container"); ctr -n k8s.io tasks kill -s SIGKILL $c`;
    await this.#inside(this.#initOf(node), ['sh', '-c', script]);
  }

  /** Returns every process of the rig, as seen from outside. */
  processes(): readonly ProcessIdentity[] {
    return this.#state.cgroups.flatMap(processesBelow).flatMap((pid) => identify(pid) ?? []);
  }

  async stop(): Promise<void> {
    await endRig(this.folder);
  }

  async #link(node: RigNode, state: 'up' | 'down'): Promise<void> {
    const init = this.#state.cgroups.map(initOf).find((pid) => pid !== undefined);
    if (init === undefined) throw new Error('the rig does not run');
    await this.#inside(init, ['ip', 'link', 'set', linkOf(node), state]);
  }

  #initOf({ name }: RigNode): number {
    const init = this.#state.cgroups
      .map((folder) => initOf(join(folder, name)))
      .find((pid) => pid !== undefined);
    if (init === undefined) throw new Error(`${name} does not run`);
    return init;
  }

  async #inside(init: number, command: readonly string[]): Promise<string> {
    const namespaces = ['--mount', '--net', '--uts', '--ipc', '--pid'];
    const env = { ...process.env, PATH: this.#settings.path };
    return (await call('nsenter', [`--target=${init}`, ...namespaces, '--', ...command], { env })).stdout;
  }
}

function startKeeper(folder: string, endsWithUs: boolean): ChildProcess {
  const log = openSync(rigLayout(folder).keeperLog, 'a', 0o600);
  const args = [join(import.meta.dirname, 'keeper.ts'), folder, ...(endsWithUs ? ['--with-stdin'] : [])];
  const stdin = endsWithUs ? 'pipe' : 'ignore';
  const keeper = spawn(process.execPath, args, { cwd: '/', detached: true, stdio: [stdin, log, log] });
  closeSync(log);
  keeper.unref();
  return keeper;
}

async function readyRig(folder: string, keeper: ChildProcess): Promise<NodeRig> {
  const deadline = performance.now() + startPatienceMs;
  for (;;) {
    const rig = await openRig(folder);
    if (rig !== undefined) return rig;
    const isLate = performance.now() > deadline;
    if (isLate || keeper.exitCode !== null) {
      const logs = await lastLines(folder);
      await endRig(folder);
      throw new Error(
        `the nodes did not start${isLate ? ` within ${startPatienceMs / 1000} s` : ''}\n${logs}`,
      );
    }
    await sleep(50);
  }
}

const startPatienceMs = 300_000;

async function lastLines(folder: string): Promise<string> {
  const { keeperLog, insideLog } = rigLayout(folder);
  const texts = await Promise.all(
    [keeperLog, insideLog].map((path) => readFile(path, 'utf8').catch(() => '')),
  );
  return texts.map((text) => text.split('\n').slice(-20).join('\n')).join('\n');
}
