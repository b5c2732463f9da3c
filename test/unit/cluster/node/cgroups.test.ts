// Where a rig may create its cgroups, from what the kernel says about those of this process.
import { expect, test } from 'vitest';
import { cgroupPlaces } from '../../../cluster/node/cgroups.ts';

const mount = (root: string, point: string, type: string, options: string): string =>
  `31 23 0:28 ${root} ${point} rw,relatime shared:9 - ${type} ${type} ${options}`;

const none = (): readonly string[] => [];
const all = (): readonly string[] => ['cpu', 'memory', 'pids'];

test('hierarchies of version 1 each have the cgroup of this process as parent, also where version 2 is mounted', () => {
  const cgroups = '9:name=systemd:/user.slice\n4:memory:/a/b\n1:cpu,cpuacct:/\n0::/user.slice\n';
  const mounts = [
    mount('/', '/sys/fs/cgroup/systemd', 'cgroup', 'rw,name=systemd'),
    mount('/', '/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
    mount('/', '/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,cpu,cpuacct'),
    mount('/', '/sys/fs/cgroup/unified', 'cgroup2', 'rw,nsdelegate'),
  ].join('\n');
  expect(cgroupPlaces(cgroups, mounts, none)).toEqual({
    version: 1,
    parents: ['/sys/fs/cgroup/systemd/user.slice', '/sys/fs/cgroup/memory/a/b', '/sys/fs/cgroup/cpu,cpuacct'],
  });
});

test('in a container, the path of a cgroup begins at the root of its mount', () => {
  const cgroups = '2:memory:/docker/c1/inner\n1:cpu:/docker/c1\n';
  const mounts = [
    mount('/docker/c1', '/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
    mount('/docker/c1', '/sys/fs/cgroup/cpu', 'cgroup', 'rw,cpu'),
  ].join('\n');
  const { parents } = cgroupPlaces(cgroups, mounts, none);
  expect(parents).toEqual(['/sys/fs/cgroup/memory/inner', '/sys/fs/cgroup/cpu']);
});

test('version 2 uses the nearest cgroup that delegates the controllers a kubelet needs', () => {
  const mounts = mount('/', '/sys/fs/cgroup', 'cgroup2', 'rw,nsdelegate');
  const delegated = (folder: string): readonly string[] => (folder === '/sys/fs/cgroup' ? all() : ['pids']);
  expect(cgroupPlaces('0::/', mounts, delegated)).toEqual({ version: 2, parents: ['/sys/fs/cgroup'] });
});

test('version 2 delegates the controllers at the root where no program has done so', () => {
  const mounts = mount('/', '/sys/fs/cgroup', 'cgroup2', 'rw');
  const asked: string[] = [];
  const delegated = (folder: string): readonly string[] => (asked.includes(folder) ? all() : []);
  const delegate = (folder: string): void => void asked.push(folder);
  const { parents } = cgroupPlaces('0::/', mounts, delegated, delegate);
  expect({ parents, asked }).toEqual({ parents: ['/sys/fs/cgroup'], asked: ['/sys/fs/cgroup'] });
});

test('version 2 that cannot delegate the controllers is refused in one sentence', () => {
  const mounts = mount('/', '/sys/fs/cgroup', 'cgroup2', 'rw');
  expect(() => cgroupPlaces('0::/user.slice', mounts, none, none)).toThrow(
    'no cgroup above this process delegates cpu, memory, pids in its cgroup.subtree_control',
  );
});
