// Each command of docs/operate/break-glass.md does what the page says, and the way back works.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { blocksOf } from '../samples/markdown.ts';
import { startReeve, webhookIsAsked, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { attempt, dryRun, type Command } from './support/attempt.ts';
import { inTime } from './support/in-time.ts';
import { labelNamespace } from './support/namespace-commands.ts';
import { configMap, namespaceObject, policy, type Ref } from './support/objects.ts';
import { policiesInForce } from './support/policies.ts';
import { runLine } from './support/shell.ts';
import { Stage } from './support/stage.ts';

const prefix = 'emergency-';
const page = readFileSync('docs/operate/break-glass.md', 'utf8')
  .replaceAll(/\bnamespacepolicy apps\b/gu, 'namespacepolicy emergency-apps')
  .replaceAll(/\bnamespace shop\b/gu, 'namespace emergency-shop');
const steps = blocksOf(page).map(({ text }) => text);
const waysBack = [...page.matchAll(/`(kubectl apply [^`]+)`/gu)].map(([, command = '']) => command);

const apps: Ref = { kind: 'NamespacePolicy', name: 'emergency-apps' };
const settings: Ref = { kind: 'ConfigMap', name: 'settings', namespace: 'emergency-shop' };
const relabel = labelNamespace('emergency-shop', 'team=web');
const touch = { args: ['label', 'configmap', 'settings', '-n', 'emergency-shop', 'touched=yes'] };

describeControllers('break-glass, step by step', { timeout: 120_000 }, () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  let reeve: Reeve;

  const run = async (command: string | undefined): Promise<string> =>
    await runLine(command ?? 'false', cluster);
  const says = async (command: Command): Promise<string> =>
    (await dryRun(command, stage.administrator)).stderr;
  const team = async (): Promise<unknown> =>
    (await stage.mustGet({ kind: 'Namespace', name: 'emergency-shop' })).metadata.labels?.['team'];

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    await stage.apply(
      namespaceObject('emergency-shop', { team: 'shop' }),
      policy('emergency-apps', {
        match: { names: ['emergency-shop'] },
        namespaces: { required: { labels: { team: { values: ['shop'] } } } },
        contents: { resources: [configMap('settings', { a: 'b' })] },
      }),
    );
    await until(
      async () => (await stage.condition(apps)) === 'True Synced',
      () => 'the policy is ready',
    );
    await policiesInForce(prefix, stage.administrator);
  });
  afterAll(async () => {
    await installReeve(cluster);
    await webhookIsAsked(cluster);
    await stage.cleanUp();
    await reeve.stop();
  });

  it('one write passes, although the policy refuses it', async () => {
    expect(await says(relabel)).toContain('policy emergency-apps, namespaces.required');
    await run(steps[0]);
    expect(await team()).toBe('web');
    await stage.inEmergency('label', 'namespace', 'emergency-shop', 'team=shop', '--overwrite');
  });

  it('a suspended policy restores nothing and still has its rules, which a second command turns into warnings', async () => {
    await run(steps[1]);
    await inTime(async () => (await stage.condition(apps)).split(' ')[1]).toMatch(/Suspended|Synced/);
    await stage.inEmergency('delete', 'configmap', 'settings', '-n', 'emergency-shop');
    await inTime(() => stage.condition(apps)).toBe('False Suspended');
    expect(await stage.get(settings)).toBeUndefined();
    expect(await says(relabel)).toContain('policy emergency-apps, namespaces.required');
    await run(steps[2]);
    await inTime(() => says(relabel)).toMatch(/^Warning: .*namespaces\.required/);
    const back = { spec: { suspend: null, validationActions: null } };
    await stage.kubectl('patch', 'nspol', 'emergency-apps', '--type=merge', '-p', JSON.stringify(back));
    await inTime(() => stage.condition(apps)).toBe('True Synced');
    await inTime(() => says(relabel)).toContain('denied the request');
  });

  it('without the webhooks everything passes except changes of what Reeve keeps, until the role is applied again', async () => {
    await run(steps[3]);
    await inTime(() => says(relabel)).toBe('');
    expect(await says(touch)).toContain('Reeve keeps ConfigMap settings');
    await run(waysBack.find((command) => command.includes('24-webhook')));
    await inTime(() => says(relabel)).toContain('denied the request');
  });

  it('the reconciler is stopped by the number of its replicas', async () => {
    await run(steps[4]);
    const replicas = [
      'get',
      'deployment',
      'reeve-reconciler',
      '-n=reeve-system',
      '-o=jsonpath={.spec.replicas}',
    ];
    expect(await stage.kubectl(...replicas)).toBe('0');
  });

  it('without the guard people change what Reeve keeps, Reeve restores it, and the guard comes back with its file', async () => {
    await run(steps[5]);
    const change = {
      args: ['patch', 'configmap', 'settings', '-n', 'emergency-shop', '-p={"data":{"a":"c"}}'],
    };
    await inTime(() => says(touch)).toBe('');
    await inTime(async () => (await attempt(change, stage.administrator)).code).toBe(0);
    await inTime(async () => (await stage.get(settings))?.['data']).toEqual({ a: 'b' });
    expect(await run(waysBack.find((command) => command.includes('40-guard')))).toContain(
      'reeve-guard created',
    );
    await inTime(() => says(touch)).toContain('Reeve keeps ConfigMap settings');
  });
});
