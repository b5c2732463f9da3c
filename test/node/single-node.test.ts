// A rig with one node of its own: each way to install and uninstall works there, and the machine is as it was before.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chartFolder } from '../cluster/helm/helm.ts';
import { reeveArchive } from '../cluster/node/reeve-image.ts';
import { helmOnRig, installOnRig, reeveIsComplete } from '../cluster/node/rig-reeve.ts';
import { openRig, startRig, type NodeRig } from '../cluster/node/rig.ts';
import { isRunning } from '../cluster/process-identity.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { changedSysctls, machineState, rigCgroups, type MachineState } from './support/machine.ts';
import { nodesOf, roles } from './support/reeve-pods.ts';
import { warningsOfStart } from './support/start-warnings.ts';
import { describeNodes } from './support/shared-rig.ts';
import { applyFirstSteps, loadReport, notJudged, steadyWrites, underLoad } from './support/steady-writes.ts';

describeNodes('a rig with one node', () => {
  let rig: NodeRig;
  let before: MachineState;
  let cgroupsBefore: readonly string[];
  beforeAll(async () => {
    // A build changes the machine for a while, so it must have ended before.
    reeveArchive(() => undefined);
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
  const exists = async (...what: readonly string[]): Promise<boolean> =>
    (await kubectl(['get', ...what], rig.cluster)).code === 0;
  const webhookConfigurations = async (): Promise<string> => {
    const kinds = 'validatingwebhookconfiguration,mutatingwebhookconfiguration';
    return await mustKubectl(['get', kinds, '-o=name'], rig.cluster);
  };

  test('the one command of README.md installs Reeve with Helm 3, and both replicas become ready on a single node', async () => {
    await installOnRig(rig, undefined, 3);
    const nodes = await Promise.all(roles.map((role) => nodesOf(rig, role)));
    expect(nodes).toEqual(roles.map(() => ['node-1', 'node-1']));
  });

  test('a healthy start of Reeve gives no warning', async () => {
    expect(await warningsOfStart(rig)).toEqual([]);
  });

  test('a running rig changes nothing of the machine but cgroups of its own', () => {
    expectUnchanged();
    expect(rigCgroups().length).toBeGreaterThan(cgroupsBefore.length);
  });

  test('Helm 3 changes the release to one Pod with both roles and back, and no namespace is created without a review', async ({
    annotate,
  }) => {
    await applyFirstSteps(rig.cluster);
    const deployments = async (): Promise<string> =>
      await mustKubectl(['get', 'deployment', '-n', 'reeve-system', '-o=name'], rig.cluster);
    const change = async (isHa: boolean): Promise<void> => {
      const flags = ['--set', `ha.enabled=${isHa}`, '--wait', '--timeout=2m'];
      await helmOnRig(rig, 3, ['upgrade', 'reeve', chartFolder, ...flags]);
    };
    const result = await underLoad(rig, async () => {
      await change(false);
      expect(await deployments()).toBe('deployment.apps/reeve\n');
      await change(true);
      await reeveIsComplete(rig);
    });
    await annotate(loadReport(result));
    expect(await deployments()).toBe('deployment.apps/reeve-reconciler\ndeployment.apps/reeve-webhook\n');
    // Helm deletes the old Pods at once, so for some seconds no webhook may answer, or one that has lost its rights.
    const isRefusal = /failed calling webhook|the API server did not answer whether user/;
    expect(Object.keys(result.failures).filter((each) => !isRefusal.test(each))).toEqual([]);
  });

  test('no call fails while Helm 3 uninstalls the release; policies and sources of shares stay', async ({
    annotate,
  }) => {
    await applyFirstSteps(rig.cluster);
    const result = await steadyWrites(rig, async () => {
      await helmOnRig(rig, 3, ['uninstall', 'reeve', '--wait']);
    });
    await annotate(loadReport(result));
    expect(Object.keys(result.failures).toSorted()).toEqual([...notJudged].toSorted());
    expect(await webhookConfigurations()).toBe('');
    expect(await exists('secret', 'registry', '-n', 'reeve-shared')).toBe(true);
    expect(await exists('nspol', 'apps')).toBe(true);
    expect(await exists('deployment', 'reeve-webhook', '-n', 'reeve-system')).toBe(false);
  });

  test('kubectl installs Reeve again with kustomize, and the policies are still in force', async () => {
    await mustKubectl(['apply', '-k', 'manifests'], rig.cluster);
    await reeveIsComplete(rig);
    const refused = await kubectl(['create', 'namespace', 'app-without-owner'], rig.cluster);
    expect(refused.stderr).toContain('policy apps');
  });

  test('no call fails while reeve uninstall removes all of Reeve', async ({ annotate }) => {
    const result = await steadyWrites(rig, async () => {
      const access = `--kubeconfig=${rig.cluster.kubeconfig}`;
      await using uninstall = new ReeveProcess(['uninstall', '--yes', access]);
      const { code, stderr } = await uninstall.ended();
      expect(code, stderr).toBe(0);
    });
    await annotate(loadReport(result));
    expect(Object.keys(result.failures).toSorted()).toEqual([...notJudged].toSorted());
    expect(await webhookConfigurations()).toBe('');
    expect(await exists('crd', 'namespacepolicies.reeve.dev')).toBe(false);
    expect(await exists('ns', 'reeve-system')).toBe(false);
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

  test('the end of a killed test run ends its rig with all that belongs to it', async () => {
    const folder = join(tmpdir(), `reeve-rig-${process.pid}`);
    const holder = join(import.meta.dirname, 'support', 'hold-rig.ts');
    const run = spawn(process.execPath, [holder, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(run.stdout, 'data');
    const processes = (await openRig(folder))?.processes() ?? [];
    expect(processes.length).toBeGreaterThan(3);
    run.kill('SIGKILL');
    // The keeper removes the folder last.
    await eventually(() => existsSync(folder)).toBe(false);
    expect(processes.filter(isRunning)).toEqual([]);
    expect(rigCgroups()).toEqual(cgroupsBefore);
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
