// What operators do not choose: a process that is killed, and a node that no packet reaches. Few calls fail.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { RigNode } from '../cluster/node/node-files.ts';
import type { NodeRig } from '../cluster/node/rig.ts';
import { until } from '../support/until.ts';
import { reevePods, reeveRunsOn, roles, spreadReeve } from './support/reeve-pods.ts';
import { describeNodes, sharedRig } from './support/shared-rig.ts';
import { applyFirstSteps, underLoad, type LoadResult } from './support/steady-writes.ts';

const both = ['node-1', 'node-2'];

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
  const told = ({ writes, failures }: LoadResult): string => `${writes} writes, ${JSON.stringify(failures)}`;

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
      await annotate(told(result));
      expect(result.failed, told(result)).toBeLessThanOrEqual(10);
    },
  );

  test.for(both)('at most 10 calls fail when %s is cut off', async (name, { annotate }) => {
    const node = nodeOf(name);
    const result = await underLoad(rig, async () => {
      await rig.cutOff(node);
      const rest = both.filter((other) => other !== name);
      await reeveRunsOn(rig, rest);
      await rig.rejoin(node);
      await reeveRunsOn(rig, both);
    });
    await annotate(told(result));
    expect(result.failed, told(result)).toBeLessThanOrEqual(10);
  });
});
