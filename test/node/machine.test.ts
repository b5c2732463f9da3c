// A rig with one node of its own: Reeve runs there, too, and the machine is afterwards as it was before.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installOnRig } from '../cluster/node/rig-reeve.ts';
import { startRig, type NodeRig } from '../cluster/node/rig.ts';
import { isRunning } from '../cluster/process-identity.ts';
import { eventually } from '../support/eventually.ts';
import { changedSysctls, machineState, rigCgroups, type MachineState } from './support/machine.ts';
import { nodesOf, roles } from './support/reeve-pods.ts';
import { describeNodes } from './support/shared-rig.ts';

describeNodes('a rig with one node', () => {
  let rig: NodeRig;
  let before: MachineState;
  let cgroupsBefore: readonly string[];
  beforeAll(async () => {
    before = machineState();
    cgroupsBefore = rigCgroups();
    rig = await startRig({ nodes: 1 });
  });
  afterAll(async () => await rig.stop());

  const expectUnchanged = (): void => {
    const after = machineState();
    expect(changedSysctls(before, after)).toEqual([]);
    expect({ ...after, sysctls: undefined }).toEqual({ ...before, sysctls: undefined });
  };

  test('both replicas of each role become ready on a single node', async () => {
    await installOnRig(rig);
    const nodes = await Promise.all(roles.map((role) => nodesOf(rig, role)));
    expect(nodes).toEqual(roles.map(() => ['node-1', 'node-1']));
  });

  test('a running rig changes nothing of the machine but cgroups of its own', () => {
    expectUnchanged();
    expect(rigCgroups().length).toBeGreaterThan(cgroupsBefore.length);
  });

  test('one signal ends the rig with all its processes, cgroups and files', async () => {
    const processes = rig.processes();
    expect(processes.length).toBeGreaterThan(10);
    await rig.stop();
    expect(processes.filter(isRunning)).toEqual([]);
    expect(rigCgroups()).toEqual(cgroupsBefore);
    expect(existsSync(rig.folder)).toBe(false);
    expectUnchanged();
  });

  test('a rig whose keeper is killed has no process left, and its end removes the rest', async () => {
    const killed = await startRig({ nodes: 0 });
    const processes = killed.processes();
    expect(processes.length).toBeGreaterThan(3);
    process.kill(killed.keeper.pid, 'SIGKILL');
    await eventually(() => processes.filter(isRunning)).toEqual([]);
    await killed.stop();
    expect(rigCgroups()).toEqual(cgroupsBefore);
    expect(existsSync(killed.folder)).toBe(false);
  });
});
