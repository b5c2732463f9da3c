// The cgroups of a rig: one below the cgroup of this process in each hierarchy, so that the kubelets change no other.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** https://kubernetes.io/docs/concepts/architecture/cgroups/. A hybrid machine has its controllers in version 1. */
export type CgroupVersion = 1 | 2;

export interface CgroupPlaces {
  readonly version: CgroupVersion;
  /** The cgroup of this process in each hierarchy; with version 2, the cgroup that may hold that of a rig. */
  readonly parents: readonly string[];
}

/** What a kubelet needs at least: https://kubernetes.io/docs/setup/production-environment/container-runtimes/#cgroup-v2 */
const neededControllers = ['cpu', 'memory', 'pids'];

interface Mount {
  readonly root: string;
  readonly point: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** `cgroups` and `mounts`: /proc/self/cgroup and /proc/self/mountinfo. https://man7.org/linux/man-pages/man7/cgroups.7.html */
export function cgroupPlaces(
  cgroups: string,
  mounts: string,
  delegated: (folder: string) => readonly string[] = delegatedControllers,
  delegate: (folder: string) => void = delegateControllers,
): CgroupPlaces {
  const mounted = mounts.split('\n').flatMap(mountOf);
  const hierarchies = cgroups.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    return controllers === undefined || path === undefined ? [] : [{ controllers, path }];
  });
  const ofVersion1 = hierarchies
    .filter(({ controllers }) => controllers !== '')
    .flatMap(({ controllers, path }) =>
      folderOf(mounted, (mount) => hasControllers(mount, controllers), path),
    );
  if (ofVersion1.length > 1) return { version: 1, parents: ofVersion1 };
  const own = hierarchies.find(({ controllers }) => controllers === '')?.path ?? '/';
  const above = folderOf(mounted, ({ type }) => type === 'cgroup2', own).flatMap(withParents);
  const isDelegating = (folder: string): boolean =>
    neededControllers.every((name) => delegated(folder).includes(name));
  // Without systemd no program may have done it. The kernel allows it at the root alone, because others hold processes.
  const top = above.at(-1);
  if (top !== undefined && !above.some(isDelegating)) delegate(top);
  const parent = above.find(isDelegating);
  if (parent === undefined)
    throw new Error(
      `no cgroup above this process delegates ${neededControllers.join(', ')} in its cgroup.subtree_control`,
    );
  return { version: 2, parents: [parent] };
}

/** Creates a cgroup of this name below each parent, and returns their folders. */
export function createCgroups({ version, parents }: CgroupPlaces, name: string): readonly string[] {
  return parents.map((parent) => {
    const folder = join(parent, name);
    mkdirSync(folder);
    // A cgroup of version 1 accepts no process until it has processors and memory nodes.
    for (const file of ['cpuset.cpus', 'cpuset.mems'])
      if (version === 1 && existsSync(join(folder, file)))
        writeFileSync(join(folder, file), readFileSync(join(parent, file)));
    return folder;
  });
}

export function moveProcess(pid: number, folders: readonly string[]): void {
  for (const folder of folders) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
}

export function processesOf(folder: string): readonly number[] {
  return readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
}

/** Returns the processes of the cgroup and of all below it. */
export function processesBelow(folder: string): readonly number[] {
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...processesOf(folder), ...below.flatMap(({ name }) => processesBelow(join(folder, name)))];
}

/** Removes the cgroups with all below them. Their processes have ended, which the kernel may notice a little later. */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (let tries = 0; existsSync(folder) && tries < 100; tries += 1) {
      if (tries > 0) await sleep(50);
      removeTree(folder);
    }
  }
}

/** The files of a cgroup cannot be deleted: its folder goes with them, once it holds no other. */
function removeTree(folder: string): void {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) removeTree(join(folder, entry.name));
    rmdirSync(folder);
  } catch {
    // Busy, or removed by the kernel meanwhile: the caller looks again.
  }
}

/** https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html */
function mountOf(line: string): readonly Mount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root, point] = before.split(' ');
  const [type, , options] = after.split(' ');
  if (root === undefined || point === undefined || type === undefined) return [];
  return [{ root, point, type, options: options?.split(',') ?? [] }];
}

function hasControllers({ type, options }: Mount, controllers: string): boolean {
  return type === 'cgroup' && controllers.split(',').every((name) => options.includes(name));
}

function folderOf(
  mounts: readonly Mount[],
  isWanted: (mount: Mount) => boolean,
  path: string,
): readonly string[] {
  const mount = mounts.find(isWanted);
  if (mount === undefined) return [];
  const below = relative(mount.root, path);
  return [below.startsWith('..') ? mount.point : join(mount.point, below)];
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return existsSync(join(parent, 'cgroup.procs')) ? [folder, ...withParents(parent)] : [folder];
}

/** What the kernel refuses is seen as a controller that is still missing. */
function delegateControllers(folder: string): void {
  for (const name of ['cpuset', ...neededControllers]) {
    try {
      writeFileSync(join(folder, 'cgroup.subtree_control'), `+${name}`);
    } catch {
      // Another controller may still be allowed.
    }
  }
}

function delegatedControllers(folder: string): readonly string[] {
  try {
    return readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8').trim().split(' ');
  } catch {
    return [];
  }
}
