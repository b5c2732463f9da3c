// The chart on two nodes: upgrades and rollbacks with other values, while five namespaces a second are created.
import { beforeAll, expect, test } from 'vitest';
import { chartFolder } from '../cluster/helm/helm.ts';
import { helmOnRig, reeveIsComplete } from '../cluster/node/rig-reeve.ts';
import type { NodeRig } from '../cluster/node/rig.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { spreadReeve } from './support/reeve-pods.ts';
import { describeNodes, sharedRig } from './support/shared-rig.ts';
import { applyFirstSteps, loadReport, underLoad } from './support/steady-writes.ts';

describeNodes('the release of the chart', () => {
  let rig: NodeRig;
  beforeAll(async () => {
    rig = await sharedRig();
    await spreadReeve(rig);
    await applyFirstSteps(rig.cluster);
  });

  const flags = async (): Promise<string> => {
    const path = '-o=jsonpath={.items[*].spec.template.spec.containers[*].args}';
    return await mustKubectl(['get', 'deployment', '-n', 'reeve-system', path], rig.cluster);
  };

  test('helm test checks the install from a Pod and finds no problem', async () => {
    const said = await helmOnRig(rig, 4, ['test', 'reeve', '--logs']);
    expect(said).toContain('ok: ');
    expect(said).not.toContain('problem: ');
  });

  test('no call fails while an upgrade changes values', async ({ annotate }) => {
    const changed = ['--set', 'logLevel=debug', '--set', 'bindableClusterRoles={view,edit,admin}'];
    const result = await underLoad(rig, async () => {
      await helmOnRig(rig, 4, ['upgrade', 'reeve', chartFolder, ...changed]);
      await reeveIsComplete(rig);
    });
    await annotate(loadReport(result));
    expect(await flags()).toContain('--log-level=debug');
    expect(result.failures).toEqual({});
  });

  test('no call fails while a rollback restores the values', async ({ annotate }) => {
    const result = await underLoad(rig, async () => {
      await helmOnRig(rig, 4, ['rollback', 'reeve']);
      await reeveIsComplete(rig);
    });
    await annotate(loadReport(result));
    expect(await flags()).not.toContain('--log-level=debug');
    expect(result.failures).toEqual({});
  });
});
