// A Namespace with as many annotations as fit stays an ordinary Namespace: created, labeled, repaired, mended, deleted.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from '../contract/support/api.ts';
import { at } from '../contract/support/objects.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { Logins } from './support/logins.ts';
import { policy } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'large-';
const name = `${prefix}a`;
const path = at('namespaces', '', name);
const annotations = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`a${index}`, '']));

describeControllers('a Namespace with 30,000 annotations', { timeout: 180_000 }, () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const logins = new Logins(cluster);
  withReeve(stage);
  let ann: Api;

  beforeAll(async () => {
    ann = await logins.as('large-ann', 'system:masters');
  });
  afterAll(() => logins.close());

  const change = async (metadata: object) => {
    const { status, body } = await ann.patch(path, 'merge', { metadata });
    return status === 200 ? 'changed' : body.message;
  };

  test('it is created, and can be labeled', async () => {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } };
    const { status, body: answer } = await ann.create(at('namespaces', ''), body);
    expect(status, answer.message).toBe(201);
    expect(await change({ labels: { team: 'a' } })).toBe('changed');
  });

  test('`existing: Repair` adds its missing defaults', async () => {
    const defaults = { labels: { tier: 'x' }, annotations: { contact: 'ann' } };
    await stage.apply(
      policy('large-repair', { existing: 'Repair', match: { names: [name] }, namespaces: { defaults } }),
    );
    // Each answer has megabytes, so this asks rarely.
    const labels = async (): Promise<unknown> => (await ann.get(path)).body.metadata.labels;
    await expect.poll(labels, { timeout: 120_000, interval: 1000 }).toMatchObject({ tier: 'x' });
    const { metadata } = (await ann.get(path)).body;
    expect(Object.keys(metadata.annotations ?? {})).toHaveLength(30_001);
  });

  test('it can be made smaller, and deleted', async () => {
    expect(await change({ annotations: { a0: null, a1: null } })).toBe('changed');
    expect((await ann.delete(path)).status).toBe(200);
    const status = async (): Promise<number> => (await ann.get(path)).status;
    await expect.poll(status, { timeout: 120_000, interval: 1000 }).toBe(404);
  });
});
