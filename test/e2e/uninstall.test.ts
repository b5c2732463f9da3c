// `reeve uninstall` leaves nothing that blocks writes: with Reeve running or dead, after any interruption, and when repeated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { blocksOf } from '../samples/markdown.ts';
import { ReeveProcess, type Output } from '../support/serve-process.ts';
import { runCommand } from '../support/run-command.ts';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { runLine } from './support/shell.ts';
import { UninstallScene } from './support/uninstall-scene.ts';

const clean = 'Reeve is removed. Nothing is left that could block a request.\n';

function times(count: number, value: string): readonly string[] {
  return Array.from({ length: count }, () => value);
}

function reportOf(metadata: object): object {
  return { apiVersion: 'openreports.io/v1alpha1', kind: 'Report', metadata };
}

describeControllers('an uninstall', () => {
  let plane: ControlPlane;

  beforeAll(async () => {
    plane = await startControlPlane();
  });
  afterAll(async () => await plane.stop());

  function start(...args: readonly string[]): ReeveProcess {
    return new ReeveProcess(['uninstall', `--kubeconfig=${plane.kubeconfig}`, '--yes', ...args]);
  }

  async function run(...args: readonly string[]): Promise<Output> {
    await using uninstall = start(...args);
    return await uninstall.ended();
  }

  /** Runs uninstall with this answer to its question. Undefined: there is no terminal for the question. */
  async function answered(answer: string | undefined): Promise<readonly [code: number, said: string]> {
    const said: string[] = [];
    const say = (text: string): void => void said.push(text);
    const ask = answer === undefined ? undefined : () => Promise.resolve(answer);
    const { code } = await runCommand(['uninstall', `--kubeconfig=${plane.kubeconfig}`], {
      stdout: say,
      stderr: say,
      ask,
    });
    return [code, said.join('')];
  }

  /** Creates the Report of Reeve in each namespace, and one of another program. */
  async function makeReports(namespaces: readonly string[]): Promise<void> {
    const crd = 'test/fixtures/report/reports-crd.yaml';
    await mustKubectl(['apply', '-f', crd], plane);
    await mustKubectl(['wait', '--for=condition=Established', '--timeout=60s', '-f', crd], plane);
    const items = namespaces.flatMap((namespace, index) => [
      reportOf({ name: 'reeve', namespace, labels: { 'reeve.dev/report': 'true' } }),
      ...(index === 0 ? [reportOf({ name: 'theirs', namespace })] : []),
    ]);
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await until(
      async () => (await kubectl(['apply', '-f', '-'], { kubeconfig: plane.kubeconfig, input })).code === 0,
      () => 'Reports were not created',
    );
  }

  async function makeGrant(namespace: string): Promise<void> {
    await mustKubectl(
      ['create', 'rolebinding', 'lent', '--clusterrole=view', '--user=un-ann', '-n', namespace],
      plane,
    );
    const end = 'reeve.dev/expires-at=2100-01-01T00:00:00Z';
    await mustKubectl(['annotate', 'rolebinding', 'lent', '-n', namespace, end], plane);
    await mustKubectl(['label', 'rolebinding', 'lent', '-n', namespace, 'reeve.dev/temporary=true'], plane);
  }

  async function readerKubeconfig(scene: UninstallScene): Promise<string> {
    await scene.stage.kubectl('create', 'clusterrole', 'un-read', '--verb=get,list', '--resource=*.*');
    await scene.stage.kubectl(
      'create',
      'clusterrolebinding',
      'un-read',
      '--clusterrole=un-read',
      '--user=un-reader',
    );
    return await plane.clientKubeconfig('un-reader');
  }

  test('uninstall does nothing without agreement and rights, and then deletes what was provided, beyond every limit', async () => {
    await using scene = await UninstallScene.begin(plane, 'un-all', 3);
    await makeReports(scene.namespaces);
    await makeGrant('un-all-0');
    const before = [await scene.owners(), await scene.parts()];
    for (const answer of [undefined, 'yes']) {
      const [code, said] = await answered(answer);
      expect(code).toBe(2);
      expect(said).toContain(
        [
          '  NamespacePolicy/un-all: 3 objects in 3 namespaces will be deleted',
          '  NamespacePolicy/un-all-orphan: 3 objects in 3 namespaces will stay (deletionPolicy: Orphan)',
          '  SecretShare/un-all: 3 objects in 3 namespaces will be deleted',
          'In all, 6 objects will be deleted, and 3 objects will stay without the label and annotation of Reeve.',
          '1 RoleBinding of temporary access will be deleted now, because nothing would end it later.',
          'Namespace reeve-system will be deleted, with everything in it, if the installation created it.',
          'The Secrets in reeve-shared will stay.',
        ].join('\n'),
      );
    }
    const refused = await run(`--kubeconfig=${await readerKubeconfig(scene)}`);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain(
      'not done: ClusterRole reeve-webhook was not deleted: the API server answered 403',
    );
    expect(refused.stdout).not.toContain('ValidatingAdmissionPolicy reeve-guard was not deleted');
    expect([await scene.owners(), await scene.parts()]).toEqual(before);

    const { code, stdout, stderr } = await run();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(clean);
    expect(stdout).not.toContain('uninstall-canary');
    expect(await scene.owners()).toEqual([...times(6, 'absent'), ...times(3, 'nobody')]);
    expect(await scene.parts()).toEqual([]);
    expect(await scene.hasConditions()).toBe(false);
    expect(stdout).toContain('deleted Report un-all-0/reeve\n');
    expect(stdout).toContain('deleted RoleBinding un-all-0/lent\n');
    expect(await scene.stage.kubectl('get', 'reports', '-A', '-o=name')).toBe(
      'report.openreports.io/theirs\n',
    );
    expect(
      await scene.stage.get({ kind: 'Secret', name: 'un-all', namespace: 'reeve-shared' }),
    ).toBeDefined();
    await scene.expectFree('with the mark of Reeve');
    await scene.expectEnd();
    const again = await run('--delete-shared');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toMatch(/^deleted Namespace reeve-shared$/m);
  });

  test('uninstall blocks nothing wherever it is interrupted, continues from there, and keeps contents while Reeve is down', async () => {
    await using scene = await UninstallScene.begin(plane, 'un-keep', 2);
    await makeGrant('un-keep-0');
    const uids = await scene.uids();
    await scene.killReeve();
    for (const line of [
      'deleted ClusterRole reeve-webhook\n',
      'deleted ValidatingAdmissionPolicy reeve-guard\n',
      'kept, and no longer marked: RoleBinding',
      'deleted SecretShare un-keep\n',
      'deleted CustomResourceDefinition',
    ]) {
      await using uninstall = start('--keep-contents');
      await until(
        () => Promise.resolve(uninstall.stdout.includes(line) || uninstall.hasEnded),
        () => `${line}: ${uninstall.stdout}`,
      );
      uninstall.kill('SIGKILL');
      await uninstall.ended();
      await scene.expectFree('without it');
    }
    const { code, stdout } = await run('--keep-contents');
    expect({ code, end: stdout.slice(-clean.length) }).toEqual({ code: 0, end: clean });
    expect(stdout).toContain(
      'note: RoleBinding un-keep-0/lent gives temporary access, and nothing ends it any more\n',
    );
    expect(await scene.owners()).toEqual(times(6, 'nobody'));
    expect(await scene.uids()).toEqual(uids);
    expect(await scene.parts()).toEqual([]);
    await scene.expectFree('with the mark of Reeve');
    await scene.expectEnd();
  });

  test('uninstall deletes contents while Reeve is down, and does not wait for objects and namespaces that others hold', async () => {
    await using scene = await UninstallScene.begin(plane, 'un-held', 2);
    const { stage } = scene;
    const [held = ''] = scene.namespaces;
    const hold = async (...finalizers: readonly string[]): Promise<void> => {
      const patch = JSON.stringify({ metadata: { finalizers } });
      await stage.inEmergency('patch', 'rolebinding', 'un-held', '-n', held, '--type=merge', '-p', patch);
    };
    await hold('example.com/hold');
    await stage.kubectl('delete', 'namespace', held, '--wait=false');
    await scene.killReeve();
    const { code, stdout } = await run();
    expect(stdout).toContain(
      `note: RoleBinding ${held}/un-held is being deleted, and waits for finalizers of others\n`,
    );
    expect({ code, end: stdout.slice(-clean.length) }).toEqual({ code: 0, end: clean });
    expect(await scene.parts()).toEqual([]);
    await scene.expectFree('with the mark of Reeve');
    await hold();
    expect((await scene.owners()).slice(0, 4)).toEqual(times(4, 'absent'));
  });

  test('a new installation takes back what the last one left behind', async () => {
    let uids: readonly unknown[] = [];
    {
      await using scene = await UninstallScene.begin(plane, 'un-again', 2);
      uids = await scene.uids();
      expect((await run('--keep-contents')).code).toBe(0);
      expect(await scene.owners()).toEqual(times(6, 'nobody'));
    }
    await using scene = await UninstallScene.begin(plane, 'un-again', 2);
    expect(await scene.uids()).toEqual(uids);
    expect((await run()).code).toBe(0);
    expect(await scene.owners()).toEqual([...times(4, 'absent'), ...times(2, 'nobody')]);
    await scene.expectEnd();
  });

  const [hooks = '', go = '', stay = '', rest = '', shared = ''] = linesBelow('## By hand');

  test.for([
    { fate: 'go', lines: [hooks, go, rest, shared], left: ['absent', 'absent', 'nobody'] },
    { fate: 'stay', lines: [hooks, stay, rest, shared], left: ['nobody', 'nobody', 'nobody'] },
  ])('the lines of docs/operate/uninstall.md leave nothing that blocks: contents that $fate', async (way) => {
    await using scene = await UninstallScene.begin(plane, `un-hand-${way.fate}`, 3);
    for (const line of way.lines) await runLine(line, plane);
    expect(await scene.owners()).toEqual(way.left.flatMap((owner) => times(3, owner)));
    expect(await scene.parts()).toEqual([]);
    await scene.expectFree('with the mark of Reeve');
    await scene.expectEnd();
  });
});

function linesBelow(heading: string): readonly string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/operate/uninstall.md'), 'utf8');
  const start = page.indexOf(`\n${heading}\n`);
  const end = page.indexOf('\n## ', start + 1);
  return blocksOf(page.slice(start, end === -1 ? undefined : end)).map(({ text }) => text);
}
