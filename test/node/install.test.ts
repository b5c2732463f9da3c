// Reeve in Pods on two nodes, as installed: where its Pods run, what they may, and the first steps of its users.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NodeRig } from '../cluster/node/rig.ts';
import { expectShown, stepsOf } from '../support/document-steps.ts';
import { createHelmTestAccount } from '../support/helm-test-account.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { nodesOf, reevePods, roles, spreadReeve } from './support/reeve-pods.ts';
import { describeNodes, sharedRig } from './support/shared-rig.ts';
import { applyFirstSteps } from './support/steady-writes.ts';

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');

describeNodes('Reeve in Pods', () => {
  let rig: NodeRig;
  beforeAll(async () => {
    rig = await sharedRig();
    await spreadReeve(rig);
  });

  test.each(roles)('the two replicas of the %s run on two nodes', async (role) => {
    expect(await nodesOf(rig, role)).toEqual(['node-1', 'node-2']);
  });

  test('every Pod answers its probes and metrics on its own address', async () => {
    for (const { name } of (await Promise.all(roles.map((role) => reevePods(rig, role)))).flat()) {
      for (const path of ['livez', 'readyz', 'metrics']) {
        const proxy = `/api/v1/namespaces/reeve-system/pods/${name}:8081/proxy/${path}`;
        expect(await rig.cluster.admin.send('GET', proxy)).toMatchObject({ status: 200 });
      }
    }
  });

  test('a check with the account of helm test sees the certificates and watches of every Pod, and no problem', async () => {
    const account = await createHelmTestAccount(rig.cluster);
    await using check = new ReeveProcess([...account.args, `--kubeconfig=${account.kubeconfig}`]);
    const { code, stdout } = await check.ended();
    await account.remove();
    expect(stdout).toContain('ok: Pods\n');
    for (const { name } of await reevePods(rig, 'webhook'))
      expect(stdout).toMatch(new RegExp(`^  Pod ${name}: serving certificate until 20.*Z$`, 'm'));
    for (const { name } of (await Promise.all(roles.map((role) => reevePods(rig, role)))).flat())
      expect(stdout).toMatch(new RegExp(`^  Pod ${name}: its watches were silent for at most \\d+ s$`, 'm'));
    expect(code).toBe(0);
  });

  test('the Pods pass the Pod Security level restricted', async () => {
    const labels = ['label', 'ns', 'reeve-system', 'pod-security.kubernetes.io/enforce=restricted'];
    const { code, stderr } = await kubectl([...labels, '--overwrite', '--dry-run=server'], rig.cluster);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // The same level refuses another Pod, so it is enforced here: reeve-shared has the label from the chart.
    const other = ['run', 'as-root', '-n', 'reeve-shared', '--image=reeve', '--dry-run=server'];
    expect((await kubectl(other, rig.cluster)).stderr).toContain('violates PodSecurity "restricted');
  });

  describe('the commands of README.md', () => {
    beforeAll(async () => await applyFirstSteps(rig.cluster));
    afterAll(async () => {
      await mustKubectl(['delete', 'ns', 'app-shop', '--ignore-not-found'], rig.cluster);
    });

    test.each(stepsOf(readme))('$command', async (step) => {
      await expectShown(step, rig.cluster.kubeconfig);
    });
  });
});
