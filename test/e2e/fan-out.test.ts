// One Secret in 500 namespaces: Reeve writes each copy once, and writes nothing that is not needed.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { writesOf } from '../cluster/audit-record.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { FanOut } from '../support/fan-out.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeCluster } from '../support/shared-cluster.ts';

const user = 'system:serviceaccount:reeve-system:reeve-reconciler';

describeCluster(`fan-out of a Secret (${inject('cluster').kind})`, () => {
  // A cluster of its own: 500 namespaces would disturb all other tests.
  let cluster: ControlPlane;
  let reeve: Reeve;
  let fanOut: FanOut;

  beforeAll(async () => {
    cluster = await startControlPlane();
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    fanOut = await FanOut.prepare(cluster);
  });
  afterAll(async () => {
    fanOut.close();
    await reeve.stop();
    await cluster.stop();
  });

  const writes = async (): Promise<readonly string[]> =>
    writesOf(await cluster.auditLog().records(), { user }).map(
      ({ verb, resource, subresource, namespace, name }) =>
        [verb, resource, subresource, namespace, name].join(' ').replaceAll(/\s+/g, ' '),
    );

  test('there is exactly one write for each copy, and otherwise only writes of the share itself', async () => {
    const before = (await writes()).length;
    await fanOut.share('fanned');
    await mustKubectl(['wait', '--for=condition=Ready', 'sshare/fanned', '--timeout=60s'], cluster);
    const made = (await writes()).slice(before);
    const copies = made.filter((write) => write.includes(' secrets '));
    expect(copies).toHaveLength(fanOut.count);
    expect(new Set(copies).size).toBe(fanOut.count);
    const others = made.filter((write) => !write.includes(' secrets '));
    expect(others.filter((write) => !write.includes('secretshares.reeve.dev'))).toEqual([]);
  });

  test('a restart writes nothing', async () => {
    const before = (await writes()).length;
    await reeve.stop();
    reeve = await startReeve(cluster, { port: reeve.port });
    // Reeve handles the new namespace after it has checked all others.
    await mustKubectl(['create', 'namespace', 'after-restart'], cluster);
    const wait = ['wait', '--for=condition=reeve.dev/Ready', 'ns/after-restart', '--timeout=60s'];
    await mustKubectl(wait, cluster);
    expect((await writes()).slice(before)).toEqual([expect.stringMatching(/^patch namespaces status /)]);
  });
});
