// What operators do not choose: a process that is killed, and a node that no packet reaches. Few calls fail.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { RigNode } from '../cluster/node/node-files.ts';
import type { NodeRig } from '../cluster/node/rig.ts';
import { until } from '../support/until.ts';
import { reevePods, reeveRunsOn, roles, spreadReeve } from './support/reeve-pods.ts';
import { describeNodes, sharedRig } from './support/shared-rig.ts';
import { applyFirstSteps, loadReport, underLoad } from './support/steady-writes.ts';

describeNodes('under five writes of namespaces a second', () => {
  let rig: NodeRig;
  beforeAll(async () => {
    rig = await sharedRig();
    await applyFirstSteps(rig.cluster);
  });
  beforeEach(async () => await spreadReeve(rig));

  const nodeOf = (name: string): RigNode => {
    const found = rig.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  };

  test.for(roles)(
    'at most 10 calls fail when the process of one %s is killed',
    async (role, { annotate }) => {
      const [pod] = await reevePods(rig, role);
      const result = await underLoad(rig, async () => {
        await rig.killContainer(nodeOf(pod?.node ?? ''), pod?.name ?? '');
        await until(
          async () => {
            const now = (await reevePods(rig, role)).find(({ name }) => name === pod?.name);
            return now !== undefined && now.restarts > (pod?.restarts ?? 0) && now.isReady;
          },
          () => `${pod?.name} runs again`,
        );
      });
      await annotate(loadReport(result));
      expect(result.failed, loadReport(result)).toBeLessThanOrEqual(10);
    },
  );

  test('at most 10 calls fail when a node is cut off, and its Pods are replaced on the other', async ({
    annotate,
  }) => {
    const node = nodeOf('node-2');
    const result = await underLoad(rig, async () => {
      await rig.cutOff(node);
      await reeveRunsOn(rig, ['node-1']);
      await reeveRunsOn(rig, ['node-1', 'node-1']);
      await rig.rejoin(node);
    });
    await annotate(loadReport(result));
    expect(result.failed, loadReport(result)).toBeLessThanOrEqual(10);
  });
});
