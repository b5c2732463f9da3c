// What operators do to the Pods and nodes of Reeve: five namespaces a second are created meanwhile, and no call may fail.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { NodeRig } from '../cluster/node/rig.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { reevePods, reeveRunsOn, restartReeve, roles, spreadReeve } from './support/reeve-pods.ts';
import { describeNodes, sharedRig } from './support/shared-rig.ts';
import { applyFirstSteps, loadReport, underLoad } from './support/steady-writes.ts';

const both = ['node-1', 'node-2'];

describeNodes('under five writes of namespaces a second', () => {
  let rig: NodeRig;
  beforeAll(async () => {
    rig = await sharedRig();
    await applyFirstSteps(rig.cluster);
  });
  beforeEach(async () => await spreadReeve(rig));

  const drain = async (node: string): Promise<void> => {
    await mustKubectl(['drain', node, '--ignore-daemonsets', '--timeout=110s'], rig.cluster);
  };
  const evict = async (pod: string): Promise<number> => {
    const path = `/api/v1/namespaces/reeve-system/pods/${pod}`;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
    return (await rig.cluster.admin.send('POST', `${path}/eviction`, eviction)).status;
  };

  test('no call fails while both Deployments are rolled out', async ({ annotate }) => {
    const before = await Promise.all(roles.map((role) => reevePods(rig, role)));
    const result = await underLoad(rig, () => restartReeve(rig));
    await annotate(loadReport(result));
    expect(result.failures).toEqual({});
    const after = await Promise.all(roles.map((role) => reevePods(rig, role)));
    const names = (pods: typeof before): readonly string[] => pods.flat().map(({ name }) => name);
    expect(names(after)).toHaveLength(4);
    for (const name of names(after)) expect(names(before)).not.toContain(name);
  });

  test.for(roles)(
    'no call fails while one %s is evicted, and the other may not be',
    async (role, { annotate }) => {
      const [one, other] = await reevePods(rig, role);
      const statuses: number[] = [];
      const result = await underLoad(rig, async () => {
        statuses.push(await evict(one?.name ?? ''), await evict(other?.name ?? ''));
        await reeveRunsOn(rig, both);
      });
      await annotate(loadReport(result));
      expect(statuses).toEqual([201, 429]);
      expect(result.failures).toEqual({});
      expect(await reevePods(rig, role)).toContainEqual(other);
    },
  );

  test('no call fails while a node is drained, and a restart spreads the Pods again', async ({
    annotate,
  }) => {
    const result = await underLoad(rig, async () => {
      await drain('node-2');
      await reeveRunsOn(rig, ['node-1', 'node-1']);
      await mustKubectl(['uncordon', 'node-2'], rig.cluster);
      await restartReeve(rig);
      await reeveRunsOn(rig, both);
    });
    await annotate(loadReport(result));
    expect(result.failures).toEqual({});
  });
});
