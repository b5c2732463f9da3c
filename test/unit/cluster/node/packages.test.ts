// The programs that a machine lacks to run nodes, and the sentence that says so.
import { expect, test } from 'vitest';
import { missingPrograms, nodeProblem } from '../../../cluster/node/packages.ts';

test('programs of the administrator are found although they are not on the PATH', () => {
  const exists = (file: string): boolean => file.startsWith('/usr/sbin/') || file.startsWith('/usr/lib/cni/');
  expect(missingPrograms('/usr/bin', exists)).toEqual([]);
});

test('each missing program is named with the package that has it', () => {
  const exists = (file: string): boolean => !file.endsWith('/runc') && !file.endsWith('/ptp');
  expect(missingPrograms('/usr/bin', exists)).toEqual([
    { program: 'runc', package: 'runc' },
    { program: '/usr/lib/cni/ptp', package: 'containernetworking-plugins' },
  ]);
});

test('a user other than root gets the reason in one sentence', () => {
  expect(nodeProblem('/usr/bin', { uid: 1000, platform: 'linux' })).toBe(
    'a node needs root, for its namespaces and cgroups',
  );
});

test('a user of another system than Linux gets the reason in one sentence', () => {
  expect(nodeProblem('/usr/bin', { uid: 0, platform: 'darwin' })).toBe('a node needs Linux');
});
