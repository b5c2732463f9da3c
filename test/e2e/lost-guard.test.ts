// Nothing restores a deleted guard, because Reeve may not write it. But its loss is reported.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { Stage } from './support/stage.ts';

describeControllers('a deleted guard', { timeout: 120_000 }, () => {
  const stage = new Stage(sharedCluster(), 'lg-');
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(stage.cluster);
    reeve = await startReeve(stage.cluster);
  });
  afterAll(async () => {
    await installReeve(stage.cluster);
    await reeve.stop();
  });

  test('the loss of the guard is an event in the namespace default, and a metric, until it is applied again', async () => {
    const inForce = async (binding: string): Promise<string | undefined> =>
      /\S+$/.exec((await lines()).find((line) => line.includes(`binding="${binding}"`)) ?? '')?.[0];
    const lines = async (): Promise<readonly string[]> =>
      (await reeve.metrics()).split('\n').filter((line) => line.startsWith('reeve_guard_in_force{'));
    await expect.poll(() => inForce('reeve-guard'), { timeout: 60_000 }).toBe('1');
    await stage.kubectl('delete', 'validatingadmissionpolicybinding', 'reeve-guard');
    await expect.poll(() => inForce('reeve-guard'), { timeout: 60_000 }).toBe('0');
    expect(await inForce('reeve-jail')).toBe('1');
    const said = async (): Promise<string> =>
      await stage.kubectl('get', 'events', '-n', 'default', '--field-selector=reason=GuardMissing');
    await expect
      .poll(said, { timeout: 30_000 })
      .toMatch(
        /Warning +GuardMissing +\S+\/reeve-guard +ValidatingAdmissionPolicy reeve-guard with binding reeve-guard is missing/,
      );
    await installReeve(stage.cluster);
    await expect.poll(() => inForce('reeve-guard'), { timeout: 60_000 }).toBe('1');
  });
});
