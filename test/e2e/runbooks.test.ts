// Each command of the runbooks runs as it is written, on a cluster with Reeve.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kindDefinitions } from '../../src/api/kinds.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { blocksOf } from '../samples/markdown.ts';
import { eventually } from '../support/eventually.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, webhookIsAsked, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { configMap, namespaceObject, policy } from './support/objects.ts';
import { runLine } from './support/shell.ts';
import { Stage } from './support/stage.ts';

const root = join(import.meta.dirname, '..', '..');
const pages = globSync('docs/runbooks/Reeve*.md', { cwd: root }).toSorted();

/** The labels of an alert are the names of objects of this test. */
function commandsOf(page: string): readonly string[] {
  return blocksOf(readFileSync(join(root, page), 'utf8'))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n'))
    .map((line) => line.replaceAll('NAMESPACE', 'rb-a').replaceAll(/\bNAME\b(?!:)/gu, 'rb-policy'));
}

describeControllers('the runbooks', { timeout: 120_000 }, () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, 'rb-');
  let reeve: Reeve;

  beforeAll(async () => {
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    const contents = { resources: [configMap('rb-map', { a: 'b' })] };
    await stage.apply(namespaceObject('rb-a'), policy('rb-policy', { match: { names: ['rb-a'] }, contents }));
  });
  afterAll(async () => {
    await installReeve(cluster);
    await webhookIsAsked(cluster);
    await stage.cleanUp();
    await reeve.stop();
  });

  test('there is a page for each alert', () => expect(pages.length).toBeGreaterThan(10));

  test('the health checks are added to the ConfigMap of Argo CD as the document says', async () => {
    const page = readFileSync(join(root, 'docs/operate/observability.md'), 'utf8');
    const [command = ''] = /^kubectl patch configmap argocd-cm .*$/mu.exec(page) ?? [];
    await stage.kubectl('create', 'namespace', 'argocd');
    await stage.kubectl('create', 'configmap', 'argocd-cm', '-n', 'argocd', '--from-literal=url=x');
    await runLine(command, cluster);
    const stored = await stage.kubectl('get', 'configmap', 'argocd-cm', '-n', 'argocd', '-o=json');
    await stage.kubectl('delete', 'namespace', 'argocd', '--wait=false');
    const { data } = JSON.parse(stored) as { readonly data: Readonly<Record<string, string>> };
    const key = 'resource.customizations.health.reeve.dev_';
    const kinds = kindDefinitions.filter(({ schemas }) => schemas.status !== undefined);
    expect(Object.keys(data).toSorted()).toEqual(
      [...kinds.map(({ kind }) => `${key}${kind}`), 'url'].toSorted(),
    );
    expect(data[`${key}SecretShare`]).toContain('return { status = health');
  });

  test('the command of a runbook finds the events of Reeve in a namespace', async () => {
    const commands = commandsOf('docs/runbooks/ReeveNamespaceWaits.md');
    const command = commands.find((each) => each.startsWith('kubectl get events')) ?? '';
    await eventually(() => runLine(command, cluster)).toContain('Created ConfigMap rb-map');
  });

  test('the FlowSchema of the page about sizing moves the requests of Reeve to its level', async () => {
    const page = readFileSync(join(root, 'docs/operate/sizing.md'), 'utf8');
    const schema = blocksOf(page).find(({ text }) => text.includes('kind: FlowSchema'))?.text ?? '';
    await mustKubectl(['apply', '-f', '-'], { kubeconfig: cluster.kubeconfig, input: schema });
    const used =
      /^apiserver_flowcontrol_dispatched_requests_total\{flow_schema="reeve",priority_level="workload-high"\}/mu;
    await eventually(async () => used.test(await stage.kubectl('get', '--raw', '/metrics'))).toBe(true);
    await stage.kubectl('delete', 'flowschema', 'reeve');
  });

  // Pages share commands.
  test.each([...new Set(pages.flatMap(commandsOf))])('%s', async (command) => {
    // The shell reports only how the last part of a pipe ends.
    const [first = '', ...rest] = command.split(' | ');
    const succeeds = (): Promise<string> =>
      runLine(`${first} > /dev/null`, cluster).catch((error: unknown) => String(error));
    // Reeve restores within seconds what another page deletes, and kubectl restarts a Deployment once a second.
    await eventually(succeeds).toBe('');
    if (rest.length > 0)
      await expect(runLine(rest.reduce(piped, first), cluster)).resolves.toBeTypeOf('string');
  });
});

/** A grep without a match is no error here: this cluster has no Pods, and nothing is broken. */
function piped(before: string, part: string): string {
  return `${before} | ${part.startsWith('grep ') ? `{ ${part} || test $? = 1; }` : part}`;
}
