// The README is true on a cluster as well: its commands run as written, one after the other, and print what it shows.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installReeve } from '../cluster/reeve-install.ts';
import { blocksOf } from '../samples/markdown.ts';
import { eventually } from '../support/eventually.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

interface Step {
  readonly command: string;
  readonly shown: string;
}

/** All but the line that says where the cluster is. */
const steps: readonly Step[] = stepsOf('## Try it');

describeControllers('the commands of the README', () => {
  const cluster = sharedCluster();
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    await mustKubectl(['apply', '-f', 'manifests/samples/first-steps'], cluster);
  });
  afterAll(async () => {
    await mustKubectl(
      ['delete', 'nspol/apps', 'sshare/registry', 'sshare/orders-db', '--ignore-not-found'],
      cluster,
    );
    await mustKubectl(['delete', 'ns', 'app-shop', '--ignore-not-found', '--wait=false'], cluster);
    await mustKubectl(
      ['delete', 'secret', 'registry', 'orders-db', '-n', 'reeve-shared', '--ignore-not-found'],
      cluster,
    );
    await reeve.stop();
  });

  test('the README shows commands', () => expect(steps.length).toBeGreaterThan(7));

  test.each(steps)('$command', async ({ command, shown }) => {
    // What only shows something is asked again until it shows that; what changes something is done once.
    const run = (): string => comparable(runInShell(command, cluster.kubeconfig));
    if (/^kubectl (get|auth)[^\n]*$/.test(command)) await eventually(run).toBe(comparable(shown));
    else expect(run()).toBe(comparable(shown));
  });
});

function runInShell(command: string, kubeconfig: string): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: join(kubeconfig, '..', 'kubectl-home'),
    KUBECONFIG: kubeconfig,
  };
  // In the order in which they come, as on a terminal.
  return spawnSync('sh', ['-c', `exec 2>&1\n${command}`], { cwd: root, env, encoding: 'utf8' }).stdout;
}

/** Ages differ, and with them the width of columns; an old kubectl says that it is one. */
function comparable(output: string): string {
  return output
    .split('\n')
    .filter((line) => !line.includes('version difference'))
    .map((line) =>
      line
        .replaceAll(/\b\d+[smh]\b/g, 'AGE')
        .replaceAll(/ +/g, ' ')
        .trim(),
    )
    .join('\n')
    .trim();
}

function stepsOf(heading: string): readonly Step[] {
  const start = readme.indexOf(`\n${heading}\n`);
  const blocks = blocksOf(readme.slice(start, readme.indexOf('\n## ', start + 1)));
  return blocks.flatMap(({ language, text }, index) => {
    const output = blocks[index + 1];
    return language === 'sh' && output?.language === 'text'
      ? [{ command: text.trimEnd(), shown: output.text }]
      : [];
  });
}
