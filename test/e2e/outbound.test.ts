// Reeve calls only the API server: the test reports and refuses every other connection and name lookup.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { namespaceObject, policy, roleBinding, share, source } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const watcher = join(import.meta.dirname, 'support', 'only-to.ts');

describeControllers('with nothing in reach but the API server', () => {
  const stage = new Stage(sharedCluster(), 'ob-');
  const reeve = withReeve(stage, {
    env: {
      NODE_OPTIONS: `--import=${watcher}`,
      REEVE_TEST_ONLY_TO: new URL(stage.cluster.server).host,
      // A client that honors these variables would send every call elsewhere.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      https_proxy: 'http://127.0.0.1:9',
    },
  });

  test.for([
    ['a connection', `import('node:net').then((net) => net.connect(9, '127.0.0.1'))`, 'OUTBOUND 127.0.0.1:9'],
    ['a request', `fetch('http://127.0.0.1:59999/').catch(() => {})`, 'OUTBOUND 127.0.0.1:59999'],
    ['a name', `fetch('http://name.example.com/').catch(() => {})`, 'name.example.com'],
  ] as const)('what watches it would tell of %s', ([, code, told]) => {
    const env = { PATH: process.env['PATH'], REEVE_TEST_ONLY_TO: '127.0.0.1:1' };
    const args = [`--import=${watcher}`, '--input-type=module', '-e', code];
    const { stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    expect(stderr).toContain('OUTBOUND is watched');
    expect(stderr.replace('OUTBOUND is watched', '')).toMatch(
      new RegExp(`^OUTBOUND .*${told.replace('OUTBOUND ', '')}`, 'm'),
    );
  });

  test('Reeve judges, provides and reports without any other connection', async () => {
    const names = { names: ['ob-*'] };
    const url = 'https://ob-canary.example.com/';
    await stage.apply(
      source('ob-source', { url }),
      policy('ob-policy', {
        match: names,
        namespaces: { defaults: { annotations: { url } } },
        contents: { roleBindings: [roleBinding('ob', 'readers')] },
      }),
      share('ob-share', {
        source: { namespace: 'reeve-shared', name: 'ob-source' },
        targets: names,
        target: { name: 'ob' },
      }),
    );
    await stage.apply(namespaceObject('ob-one', {}));
    await until(
      async () => (await stage.namespaceCondition('ob-one').catch(() => '')) === 'True Synced',
      () => reeve.process.output.slice(-3000),
    );
    const { metadata } = await stage.mustGet({ kind: 'Namespace', name: 'ob-one' });
    expect(metadata.annotations).toMatchObject({ url });
    const told = reeve.process.output.split('\n').filter((line) => line.startsWith('OUTBOUND'));
    expect(told).toEqual(['OUTBOUND is watched']);
  });
});
