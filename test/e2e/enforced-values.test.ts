// Labels with one value: at admission, on existing namespaces, and only the keys that the install and the jail name.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownMember } from '../../src/base/json.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { eventually } from '../support/eventually.ts';
import { describeCluster, sharedCluster } from '../support/shared-cluster.ts';
import { applyText } from './support/install-roles.ts';
import { namespaceObject, policy } from './support/objects.ts';
import { emergency } from './support/people.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const key = 'mesh.example.com/rev';
const jailFile = 'manifests/install/41-jail.yaml';

describeCluster('a label with an enforced value', () => {
  const stage = new Stage(sharedCluster(), 'ev-');
  withReeve(stage, { args: [`--enforced-key=${key}`, '--enforced-key=unjailed.example.com/rev'] });
  const mesh = (name: string, value: string, fields: object = {}) =>
    policy(name, {
      match: { names: ['ev-*'] },
      namespaces: { enforced: { labels: { [key]: value } } },
      ...fields,
    });
  const valueOf = async (name: string): Promise<string | undefined> =>
    (await stage.mustGet({ kind: 'Namespace', name })).metadata.labels?.[key];

  beforeAll(async () => {
    const jail = await readFile(jailFile, 'utf8');
    const opened = jail.replace(
      /(- name: enforcedKeys\n +expression: )'\[\]'/,
      (_found, start: string) => `${start}'["${key}"]'`,
    );
    if (opened === jail) throw new Error('the jail has no list of keys');
    await applyText(opened, emergency(stage.cluster));
    await stage.apply(namespaceObject('ev-old', { [key]: '1-20' }));
  });
  afterAll(async () => {
    await mustKubectl(['apply', '-f', jailFile], emergency(stage.cluster));
  });

  test('the webhook sets the value of new namespaces, in place of any other, and an existing one keeps its own', async () => {
    await stage.apply(mesh('ev-mesh', '1-22'));
    await eventually(async () => await stage.condition({ kind: 'NamespacePolicy', name: 'ev-mesh' })).toMatch(
      /^True/,
    );
    const said = await stage.apply(namespaceObject('ev-new', { [key]: '1-20' }));
    expect(said).toContain('in place of "1-20", because it enforces this value');
    expect([await valueOf('ev-new'), await valueOf('ev-old')]).toEqual(['1-22', '1-20']);
  });

  test('a change back of a user is corrected', async () => {
    await stage.kubectl('label', 'namespace', 'ev-new', '--overwrite', `${key}=1-19`);
    expect(await valueOf('ev-new')).toBe('1-22');
    await stage.kubectl('label', 'namespace', 'ev-new', `${key}-`);
    expect(await valueOf('ev-new')).toBe('1-22');
  });

  test('existing: Repair changes existing namespaces, and the write says which', async () => {
    const said = await stage.apply(mesh('ev-mesh', '1-22', { existing: 'Repair' }));
    expect(said).toContain(`now changes label ${key} in 1 namespace: ev-old`);
    await eventually(() => valueOf('ev-old')).toBe('1-22');
  });

  test('more changes than maxDeletions are refused', async () => {
    await stage.apply(mesh('ev-mesh', '1-22', { existing: 'Repair', maxDeletions: 1 }));
    const refused = await stage.tryApply([mesh('ev-mesh', '1-24', { existing: 'Repair', maxDeletions: 1 })]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`label ${key} in 2 namespaces`);
  });

  test('the second policy with another value is in conflict, and says with which', async () => {
    await stage.apply(mesh('ev-other', '1-30', { existing: 'Repair' }));
    await eventually(
      async () => (await stage.get({ kind: 'NamespacePolicy', name: 'ev-other' }))?.status,
    ).toMatchObject({
      failures: expect.arrayContaining([expect.objectContaining({ reason: 'ProvidedByAnother' })]) as unknown,
    });
  });

  test('waves move the namespaces of the selector first, then some at a time after the pause', async () => {
    await stage.kubectl('delete', 'nspol', 'ev-mesh', 'ev-other');
    const names = ['ev-wave-a', 'ev-wave-b', 'ev-wave-c'];
    for (const name of names)
      await stage.apply(
        namespaceObject(name, { [key]: '1-20', ...(name === 'ev-wave-b' ? { canary: 'true' } : {}) }),
      );
    const waves = (pause: string) =>
      policy('ev-waves', {
        match: { names: ['ev-wave-*'] },
        existing: 'Repair',
        namespaces: {
          enforced: {
            labels: { [key]: '1-22' },
            waves: { namespaceSelector: { matchLabels: { canary: 'true' } }, percent: 40, pause },
          },
        },
      });
    const state = async (): Promise<unknown> =>
      ownMember((await stage.get({ kind: 'NamespacePolicy', name: 'ev-waves' }))?.status, 'waves');
    const values = async () => await Promise.all(names.map(valueOf));
    const said = await stage.apply(waves('1h'));
    expect(said).toContain('then 40 percent of the namespaces at a time');
    await eventually(state).toMatchObject({ state: 'Pausing', wave: 1, moved: 1, waiting: 2 });
    expect(await values()).toEqual(['1-20', '1-22', '1-20']);
    await stage.apply(waves('1s'));
    await eventually(state).toMatchObject({ state: 'Done', wave: 2, moved: 3, waiting: 0 });
    expect(await values()).toEqual(['1-22', '1-22', '1-22']);
  });

  test('the jail keeps Reeve from changing a key that it does not list', async () => {
    const unjailed = 'unjailed.example.com/rev';
    await stage.apply(namespaceObject('ev-jailed', { [unjailed]: '1' }));
    await stage.apply(
      policy('ev-unjailed', {
        match: { names: ['ev-jailed'] },
        existing: 'Repair',
        namespaces: { enforced: { labels: { [unjailed]: '2' } } },
      }),
    );
    await eventually(
      async () => (await stage.get({ kind: 'NamespacePolicy', name: 'ev-unjailed' }))?.status,
    ).toMatchObject({ failures: [expect.objectContaining({ namespace: 'ev-jailed' })] });
    const { metadata } = await stage.mustGet({ kind: 'Namespace', name: 'ev-jailed' });
    expect(metadata.labels?.[unjailed]).toBe('1');
  });
});
