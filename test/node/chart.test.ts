// The chart on two nodes: upgrades and rollbacks with other values, while five namespaces a second are created.
import { beforeAll, expect, test } from 'vitest';
import { chartFolder } from '../cluster/helm/helm.ts';
import { helmOnRig, reeveIsComplete } from '../cluster/node/rig-reeve.ts';
import type { NodeRig } from '../cluster/node/rig.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { spreadReeve } from './support/reeve-pods.ts';
import { describeNodes, sharedRig } from './support/shared-rig.ts';
import { applyFirstSteps, loadReport, underLoad } from './support/steady-writes.ts';

const recipe = 'docs/recipes/message-jobs';
const jobs = ['--values', `${recipe}/values.yaml`];

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

  test('the three commands that Helm prints after an install work, and helm test finds no problem from its Pod', async () => {
    const notes = await helmOnRig(rig, 4, ['get', 'notes', 'reeve']);
    const commands = [...notes.matchAll(/^ {3}(?<words>(?:kubectl|helm) .*)$/gmu)].map(
      ({ groups }) => groups?.['words'] ?? '',
    );
    const [rollout = '', check = '', list = ''] = commands.map((command) => command.replace(/^\w+ /u, ''));
    expect(commands).toHaveLength(3);
    expect(await mustKubectl(rollout.split(' '), rig.cluster)).toMatch(
      /^(?:deployment "reeve-\w+" successfully rolled out\n){2}$/u,
    );
    const said = await helmOnRig(rig, 4, [...check.split(' '), '--logs']);
    expect(said).toContain('ok: ');
    expect(said).not.toContain('problem: ');
    expect(await mustKubectl(list.split(' '), rig.cluster)).toMatch(/namespacepolicy\S+apps .*True/u);
  });

  test('no call fails while an upgrade changes values', async ({ annotate }) => {
    const changed = ['--set', 'logLevel=debug', '--set', 'bindableClusterRoles={view,edit,admin}', ...jobs];
    const result = await underLoad(rig, async () => {
      await helmOnRig(rig, 4, ['upgrade', 'reeve', chartFolder, '--wait', ...changed]);
      await reeveIsComplete(rig);
    });
    await annotate(loadReport(result));
    expect(await flags()).toContain('--log-level=debug');
    expect(result.failures).toEqual({});
  });

  test('the Job of the recipe runs once its kind is allowed, and prints the message', async () => {
    for (const file of ['policy', 'namespace'])
      await mustKubectl(['apply', '-f', `${recipe}/${file}.yaml`], rig.cluster);
    const job = ['job/message-hello', '-n', 'echo-shop'];
    await until(
      async () => (await kubectl(['get', ...job], rig.cluster)).code === 0,
      () => 'the reconciler has created the Job',
    );
    await mustKubectl(['wait', ...job, '--for=condition=Complete', '--timeout=110s'], rig.cluster);
    expect(await mustKubectl(['logs', ...job], rig.cluster)).toBe('hello\n');
    await mustKubectl(['delete', 'namespace', 'echo-shop'], rig.cluster);
    await mustKubectl(['delete', 'nspol', 'message-jobs'], rig.cluster);
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
