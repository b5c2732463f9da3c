// What docs/operate/backup.md says: its commands bring back policies and shares, and Reeve recognizes its objects.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { blocksOf } from '../samples/markdown.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { until } from '../support/until.ts';
import { inTime } from './support/in-time.ts';
import { configMap, namespaceObject, policy, roleBinding, type Ref } from './support/objects.ts';
import { secret, shareOf } from './support/secrets.ts';
import { runLine } from './support/shell.ts';
import { Stage } from './support/stage.ts';

const prefix = 'backup-';
const shellBlocks = blocksOf(readFileSync('docs/operate/backup.md', 'utf8'))
  .filter(({ language }) => language === 'sh')
  .map(({ text }) => text);
const blockWith = (words: string): string => shellBlocks.find((text) => text.includes(words)) ?? words;

const namespace = 'backup-a';
const owners: readonly Ref[] = [
  { kind: 'NamespacePolicy', name: 'backup-policy' },
  { kind: 'SecretShare', name: 'backup-share' },
];
const source: Ref = { kind: 'Secret', name: 'backup-share', namespace: 'reeve-shared' };
const provided: readonly Ref[] = [
  { kind: 'RoleBinding', name: 'viewers', namespace },
  { kind: 'ConfigMap', name: 'settings', namespace },
  { kind: 'Secret', name: 'backup-share', namespace },
];
const owned = ['NamespacePolicy/backup-policy', 'NamespacePolicy/backup-policy', 'SecretShare/backup-share'];

describeControllers('a backup', { timeout: 120_000 }, () => {
  // Its own cluster: a backup has everything, also what other tests leave behind.
  let cluster: ControlPlane;
  let stage: Stage;
  let reeve: Reeve;
  let folder: string;

  const run = async (words: string): Promise<string> =>
    await runLine(`cd ${folder}\n${blockWith(words)}`, cluster);
  const isRestored = async (): Promise<void> => {
    await inTime(() => stage.ownersOf(...provided)).toEqual(owned);
    for (const ref of owners) await inTime(() => stage.condition(ref)).toBe('True Synced');
  };
  /** Removes policy and share as a cluster that is lost: nothing of Reeve reacts. */
  const lose = async (): Promise<void> => {
    for (const { kind, name } of owners) {
      await stage.inEmergency('patch', kind, name, '--type=merge', '-p={"metadata":{"finalizers":null}}');
      await stage.inEmergency('delete', kind, name);
    }
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-backup-'));
    cluster = await startControlPlane({ audit: false });
    stage = new Stage(cluster, prefix);
    await installReeve(cluster);
    reeve = await startReeve(cluster);
    await stage.apply(
      namespaceObject(namespace),
      secret({ name: 'backup-share' }, { value: 'one' }),
      shareOf('backup-share', { names: [namespace] }),
      policy('backup-policy', {
        match: { names: [namespace] },
        contents: {
          roleBindings: [roleBinding('viewers', 'staff')],
          resources: [configMap('settings', { a: 'b' })],
        },
      }),
    );
    await until(
      async () => (await stage.ownersOf(...provided)).join() === owned.join(),
      () => 'policy and share have provided their objects',
    );
    await run('without_ids()');
  });
  afterAll(async () => {
    await reeve.stop();
    await cluster.stop();
    await rm(folder, { recursive: true });
  });

  it('a backup brings back deleted policies, shares and sources, and Reeve provides their objects again', async () => {
    const before = await stage.uidsOf(...owners, ...provided);
    await stage.remove(...owners, source);
    expect(await stage.ownersOf(...provided)).toEqual(['absent', 'absent', 'absent']);
    const said = await run('-f reeve-policies.json');
    expect(said).toContain('backup-policy');
    await isRestored();
    const after = await stage.uidsOf(...owners, ...provided);
    expect(after.some((uid, index) => uid === before[index])).toBe(false);
  });

  it('an object whose policy has a new uid belongs to it without a write', async () => {
    const before = await stage.uidsOf(...provided);
    await reeve.stop();
    await lose();
    const versions = await versionsOf();
    // The webhooks of the install do not answer, so an administrator without them restores.
    await restoreInEmergency();
    reeve = await startReeve(cluster);
    await isRestored();
    expect(await stage.uidsOf(...provided)).toEqual(before);
    expect(await versionsOf()).toEqual(versions);
  });

  it('an object without its policy is released, and the restored policy takes it back', async () => {
    const before = await stage.uidsOf(...provided);
    await reeve.stop();
    await lose();
    reeve = await startReeve(cluster);
    await inTime(() => stage.ownersOf(...provided)).toEqual(['nobody', 'nobody', 'nobody']);
    const { metadata } = await stage.mustGet({ kind: 'RoleBinding', name: 'viewers', namespace });
    expect(metadata.labels?.['reeve.dev/orphaned-from']).toBe('backup-policy');
    await run('-f reeve-policies.json');
    await isRestored();
    expect(await stage.uidsOf(...provided)).toEqual(before);
  });

  it('while Reeve runs, the guard refuses to restore what Reeve provides', async () => {
    const kept = await stage.kubectl('get', 'configmap', 'settings', '-n', namespace, '-o=json');
    const copy = JSON.parse(kept) as { metadata: { name: string; uid?: string; resourceVersion?: string } };
    copy.metadata = { ...copy.metadata, name: 'restored' };
    delete copy.metadata.uid;
    delete copy.metadata.resourceVersion;
    const { code, stderr } = await stage.tryApply([copy as never]);
    expect(code).toBe(1);
    expect(stderr).toContain('reeve-guard');
  });

  it('the list of adopted objects is a command that works', async () => {
    expect(await run('reeve.dev/adopt')).toBe('');
  });

  async function versionsOf(): Promise<readonly (string | undefined)[]> {
    return await Promise.all(provided.map(async (ref) => (await stage.get(ref))?.metadata.resourceVersion));
  }

  async function restoreInEmergency(): Promise<void> {
    const apply = ['apply', '--server-side', '--force-conflicts', '-f'];
    for (const name of ['sources', 'policies'])
      await stage.inEmergency(...apply, join(folder, `reeve-${name}.json`));
  }
});
