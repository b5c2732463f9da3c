// A terminating Namespace keeps its rules, and nothing of Reeve blocks its deletion.
import { beforeAll, expect, test } from 'vitest';
import { kubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { namespaceObject, policy } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

describeControllers('a Namespace that is being deleted', () => {
  const stage = new Stage(sharedCluster(), 'en-');
  const name = 'en-held';
  withReeve(stage, { role: 'webhook' });

  beforeAll(async () => {
    const required = { labels: { team: { pattern: '^[a-z]+$' } } };
    await stage.apply(
      policy('en-rules', {
        match: { names: ['en-*'] },
        namespaces: { required, immutable: { labels: ['team'] } },
      }),
    );
    await until(
      async () => (await stage.dryRun(namespaceObject('en-no'))).code === 1,
      () => 'the policy is in force',
    );
    await stage.apply(namespaceObject(name, { team: 'shop' }));
    const held = { metadata: { name: 'held', finalizers: ['example.com/held'] } };
    await stage.cluster.admin.mustSend('POST', `/api/v1/namespaces/${name}/configmaps`, held);
    await stage.kubectl('delete', 'namespace', name, '--wait=false');
  });

  test.for([
    ['another value', { team: 'other' }, []],
    ['no value', { team: null }, []],
    ['another value, through the status', { team: 'other' }, ['--subresource=status']],
  ] as const)('a Namespace that ends is not given %s of a label that stays', async ([, labels, flags]) => {
    const patch = JSON.stringify({ metadata: { labels } });
    const args = ['patch', 'namespace', name, '--type=merge', '-p', patch, ...flags];
    const { code, stderr } = await kubectl(args, stage.administrator);
    expect(code).toBe(1);
    expect(stderr).toContain('policy en-rules, namespaces.immutable');
    expect((await stage.mustGet({ kind: 'Namespace', name })).metadata.labels).toMatchObject({
      team: 'shop',
    });
  });

  test('a Namespace that is being deleted ends as soon as nothing else holds it', async () => {
    const patch = JSON.stringify({ metadata: { finalizers: null } });
    await stage.kubectl('patch', 'configmap', 'held', '-n', name, '--type=merge', '-p', patch);
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: [] } };
    // Does the work of the namespace controller, without waiting for its next retry.
    await stage.cluster.admin.mustSend('PUT', `/api/v1/namespaces/${name}/finalize`, {
      ...object,
      metadata: (await stage.mustGet({ kind: 'Namespace', name })).metadata,
    });
    const codes = async (): Promise<number> =>
      (await stage.cluster.admin.send('GET', `/api/v1/namespaces/${name}`)).status;
    await expect.poll(codes, { timeout: 60_000, interval: 100 }).toBe(404);
  });
});
