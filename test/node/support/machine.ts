// What a rig could change on the machine: reads it, so that a test can compare it with a later time.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOfRoot } from '../../cluster/node/packages.ts';

export interface MachineState {
  readonly interfaces: string;
  readonly routes: string;
  readonly packetFilter: string;
  readonly mounts: readonly string[];
  /** The entries of folders in which programs of a node usually leave something. */
  readonly folders: readonly string[];
  readonly sysctls: ReadonlyMap<string, string>;
}

/** Sysctls that count or measure, so that they change by themselves. */
const measured =
  /\/(?:fs\/(?:dentry-state|file-nr|inode-nr|inode-state|aio-nr|quota)|kernel\/(?:random|ns_last_pid|pty\/nr|perf_event|sched|seccomp)|net\/netfilter\/nf_conntrack_count|debug)/;

const watchedFolders = ['/var/lib', '/var/log', '/var/run', '/opt', '/etc', '/run', '/usr/local/bin'];

export function machineState(): MachineState {
  return {
    interfaces: output('ip', '-o', 'address'),
    routes: output('ip', 'route', 'show', 'table', 'all'),
    packetFilter: output('nft', 'list', 'ruleset'),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(isNoTemporaryMount),
    folders: watchedFolders
      .filter(existsSync)
      .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name))),
    sysctls: new Map(filesBelow('/proc/sys').flatMap(valueOf)),
  };
}

/** Other programs mount below the folder for temporary files at any time. */
function isNoTemporaryMount(line: string): boolean {
  const [, , , , point = ''] = line.split(' ');
  return !point.startsWith(`${tmpdir()}/`) || point.includes('/reeve-');
}

/** Returns the names of the cgroups of rigs, in every hierarchy. */
export function rigCgroups(): readonly string[] {
  return output('find', '/sys/fs/cgroup', '-maxdepth', '6', '-type', 'd', '-name', 'reeve-rig-*')
    .split('\n')
    .filter(Boolean);
}

/** Returns the sysctls that have another value. One that appears belongs to a module that the kernel has loaded. */
export function changedSysctls(before: MachineState, after: MachineState): readonly string[] {
  return [...before.sysctls]
    .filter(([name, value]) => after.sysctls.has(name) && after.sysctls.get(name) !== value)
    .map(([name, value]) => `${name}: ${value} is now ${after.sysctls.get(name)}`);
}

function output(command: string, ...args: readonly string[]): string {
  const env = { ...process.env, PATH: pathOfRoot(process.env['PATH'] ?? '') };
  return execFileSync(command, args, { encoding: 'utf8', env });
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** Some sysctls can only be written. */
function valueOf(path: string): readonly (readonly [string, string])[] {
  if (measured.test(path)) return [];
  try {
    return [[path, readFileSync(path, 'utf8')]];
  } catch {
    return [];
  }
}
