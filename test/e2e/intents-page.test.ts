// docs/intents.md is true: its first steps run as written and print the output shown. The samples can be tried in the sandbox.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { expectShown, runInShell, stepsOf } from '../support/document-steps.ts';
import { eventually } from '../support/eventually.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/intents.md'), 'utf8');
const steps = stepsOf(page);

describeControllers('on a cluster with Reeve', () => {
  const cluster = sharedCluster();
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
  });
  afterAll(async () => {
    await mustKubectl(['delete', 'csib/shops', 'ns/shop-a', '--ignore-not-found'], cluster);
    await mustKubectl(
      ['delete', 'sint/no-escape', 'sint/cluster-only', 'sint/no-tools', '--ignore-not-found'],
      cluster,
    );
    await reeve.stop();
  });

  test('the page shows commands', () => expect(steps.length).toBeGreaterThan(8));

  test.each(steps)('$command', async (step) => {
    await expectShown(step, cluster.kubeconfig);
  });
});

describeControllers('in the sandbox of npm start', () => {
  let up: ReeveProcess;
  let kubeconfig: string;
  const shell = (command: string): string => runInShell(command, kubeconfig);

  beforeAll(async () => {
    up = new ReeveProcess(['up']);
    await until(
      () => Promise.resolve(up.stdout.includes('In force:')),
      () => up.stdout + up.stderr,
    );
    kubeconfig = /export KUBECONFIG=(\S+)/.exec(up.stdout)?.[1] ?? '';
  });
  afterAll(async () => {
    await up[Symbol.asyncDispose]();
  });

  test.each(steps)('$command', async (step) => {
    await expectShown(step, kubeconfig);
  });

  describe('the samples', () => {
    const readme = readFileSync(
      join(import.meta.dirname, '../../manifests/samples/intents/README.md'),
      'utf8',
    );
    const commands = [...readme.matchAll(/^ {4}(kubectl .*)$/gm)].map(([, command = '']) => command);

    test('each command of their page works', () => {
      expect(commands.length).toBeGreaterThan(4);
      for (const command of commands) expect(shell(`${command} >&2 && echo worked`)).toMatch(/worked\n$/);
    });

    test('each binding says whether its intents are resolved, and why they are not', async () => {
      const condition = `{range .items[*]}{.metadata.name}{" "}{.status.conditions[?(@.type=="IntentsResolved")].reason}{"\\n"}{end}`;
      // The first steps have left a binding `web`.
      const listed = (): string =>
        shell(
          `kubectl get clustersecurityintentbindings.reeve.dev,securityintentbindings.reeve.dev -A -o jsonpath='${condition}'`,
        ).replace(/^web .*\n/m, '');
      await eventually(() => listed().match(/ (Resolved|Unsupported)$/gm)?.length).toBe(18);
      expect(listed()).toContain('virtual-patch Unsupported\n');
      expect(listed()).toContain('dns-manipulation Resolved\n');
    });
  });
});
