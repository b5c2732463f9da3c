// README.md and docs/getting-started.md are true: their kubectl commands run as written and print the output shown.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from '../samples/markdown.ts';
import { comparable, expectShown, reeveHasSeenAll, runInShell, stepsOf } from '../support/document-steps.ts';
import { eventually } from '../support/eventually.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { ReeveProcess } from '../support/serve-process.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const root = join(import.meta.dirname, '..', '..');

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const pages = {
  'README.md': readme,
  'docs/getting-started.md': readFileSync(join(root, 'docs/getting-started.md'), 'utf8'),
} as const;

describeControllers('on a cluster with Reeve', () => {
  const cluster = sharedCluster();
  withReeve(new Stage(cluster, 'readme-'));

  describe.each(Object.entries(pages))('the commands of %s', (_, page) => {
    const steps = stepsOf(page);

    beforeAll(async () => {
      await mustKubectl(['apply', '-f', 'manifests/samples/first-steps'], cluster);
      await reeveHasSeenAll(cluster.kubeconfig);
    });
    afterAll(async () => {
      await mustKubectl(['delete', 'ns', 'app-shop', '--ignore-not-found'], cluster);
      await mustKubectl(
        ['delete', 'nspol/apps', 'sshare/registry', 'sshare/orders-db', '--ignore-not-found'],
        cluster,
      );
      await mustKubectl(
        ['delete', 'secret', 'registry', 'orders-db', '-n', 'reeve-shared', '--ignore-not-found'],
        cluster,
      );
    });

    test('the page shows commands', () => expect(steps.length).toBeGreaterThan(2));

    test.each(steps)('$command', async ({ command, shown }) => {
      await expectShown({ command, shown }, cluster.kubeconfig);
    });
  });
});

describeControllers('in the sandbox of npm start', () => {
  test('the commands of README.md make the feed that it shows', async () => {
    await using up = new ReeveProcess(['up']);
    await eventually(() => up.stdout).toContain('In force:');
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(up.stdout)?.[1] ?? '';
    for (const { command, shown } of stepsOf(readme)) {
      if (/^kubectl (create|apply)/.test(command)) {
        expect(comparable(runInShell(command, kubeconfig))).toBe(comparable(shown));
      }
    }
    const shown = blocksOf(readme).find(({ language }) => language === 'feed')?.text ?? '';
    await eventually(() => feedLines(up.stdout)).toEqual(feedLines(shown));
  });
});

/** Removes the time of each event, and sorts the lines, because the reconciler writes objects at the same moment. */
function feedLines(text: string): readonly string[] {
  const events = [...text.matchAll(/^\d\d:\d\d:\d\d(.*\n(?: {5,}.*\n)*)/gm)];
  return events.map(([, event = '']) => event).sort();
}
