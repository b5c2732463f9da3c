// Copies with names and metadata of their namespace, targets that are alternatives, and two shares that agree on one copy.
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { namespaceObject, share } from './support/objects.ts';
import { secret, Secrets, shareOf, shareRef, sourceNamespace } from './support/secrets.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'sc-';
const team = "${namespaceObject.metadata.labels['team']}";

describeControllers('copies of SecretShares', () => {
  const cluster = sharedCluster();
  const stage = new Stage(cluster, prefix);
  const secrets = new Secrets(stage, prefix);
  withReeve(stage);

  beforeAll(async () => {
    await stage.apply(
      namespaceObject('sc-red', { team: 'red' }),
      namespaceObject('sc-blue', { team: 'blue' }),
      namespaceObject('sc-bare'),
    );
  });

  describe('templates on the namespace', () => {
    const target = {
      name: `sc-login-${team}`,
      labels: { team },
      annotations: { 'reloader.stakater.com/match': 'true', of: '${namespaceObject.metadata.name}' },
    };

    test('each namespace gets a copy with its own name, labels and annotations', async () => {
      await stage.apply(
        secret({ name: 'sc-login' }, { value: 'one' }),
        shareOf('sc-login', { names: ['sc-red', 'sc-blue', 'sc-bare'] }, { target }),
      );
      await eventually(() => secrets.value('sc-red', 'sc-login-red')).toBe('one');
      await eventually(() => secrets.value('sc-blue', 'sc-login-blue')).toBe('one');
      expect((await secrets.in('sc-red', 'sc-login-red'))?.metadata).toMatchObject({
        labels: { team: 'red', 'reeve.dev/secretshare': 'sc-login' },
        annotations: { 'reloader.stakater.com/match': 'true', of: 'sc-red' },
      });
      await eventually(async () => (await stage.mustGet(shareRef('sc-login')))['status']).toMatchObject({
        desired: 2,
        synced: 2,
        skipped: 1,
        skippedContents: [{ namespace: 'sc-bare', message: 'label team is missing' }],
      });
    });

    test('a namespace whose label changes gets the copy of the new name, and loses the old one', async () => {
      await stage.kubectl('label', 'namespace', 'sc-blue', 'team=green', '--overwrite');
      await eventually(() => secrets.value('sc-blue', 'sc-login-green')).toBe('one');
      await eventually(() => secrets.namespacesWith('sc-login-blue')).toEqual([]);
    });

    test('a label that gives no legal name keeps the copy', async () => {
      await stage.kubectl('label', 'namespace', 'sc-blue', 'team=A_b', '--overwrite');
      await eventually(async () => (await stage.mustGet(shareRef('sc-login')))['status']).toMatchObject({
        failed: 1,
        failures: [{ namespace: 'sc-blue', reason: 'RenderFailed' }],
      });
      expect(await secrets.value('sc-blue', 'sc-login-green')).toBe('one');
      await stage.kubectl('label', 'namespace', 'sc-blue', 'team=blue', '--overwrite');
      await eventually(() => secrets.value('sc-blue', 'sc-login-blue')).toBe('one');
    });

    test('annotations that leave the share leave its copies', async () => {
      const { annotations: _annotations, ...plain } = target;
      await stage.apply(shareOf('sc-login', { names: ['sc-red'] }, { target: plain }));
      await eventually(
        async () => (await secrets.in('sc-red', 'sc-login-red'))?.metadata.annotations,
      ).not.toHaveProperty('of');
    });

    test('the API server and the webhook refuse keys of Reeve and templates that do not compile', async () => {
      const refused = async (more: object): Promise<string> =>
        (await stage.tryApply([shareOf('sc-refused', { names: ['sc-red'] }, { target: more })])).stderr;
      expect(await refused({ annotations: { 'reeve.dev/owner': 'SecretShare/x' } })).toContain(
        'must not set',
      );
      expect(await refused({ name: 'a_b' })).toContain('the name of a Secret');
      expect(await refused({ name: 'a-${request.name}' })).toContain('there is no variable request here');
    });
  });

  test('a namespace that one of the alternatives matches gets a copy', async () => {
    const anyOf = [{ names: ['sc-red'] }, { namespaceSelector: { matchLabels: { 'sc-pull': 'yes' } } }];
    await stage.apply(secret({ name: 'sc-any' }, { value: 'one' }), shareOf('sc-any', { anyOf }));
    await eventually(() => secrets.namespacesWith('sc-any')).toEqual(['sc-red']);
    await stage.kubectl('label', 'namespace', 'sc-bare', 'sc-pull=yes');
    await eventually(() => secrets.namespacesWith('sc-any')).toEqual(['sc-bare', 'sc-red']);
    await stage.kubectl('label', 'namespace', 'sc-bare', 'sc-pull-');
    await eventually(() => secrets.namespacesWith('sc-any')).toEqual(['sc-red']);
  });

  test('two shares agree on a copy with the same content, until the content differs or the owner is deleted', async () => {
    const targets = { names: ['sc-red'] };
    const second = share('sc-two', {
      source: { namespace: sourceNamespace, name: 'sc-two' },
      targets,
      target: { name: 'sc-one' },
    });
    await stage.apply(
      ...['sc-one', 'sc-two'].map((name) => secret({ name }, { value: 'one' })),
      shareOf('sc-one', targets),
      second,
    );
    for (const name of ['sc-one', 'sc-two'])
      await eventually(() => stage.condition(shareRef(name))).toBe('True Synced');
    const uid = await secrets.uid('sc-red', 'sc-one');
    await stage.apply(secret({ name: 'sc-two' }, { value: 'two' }));
    await eventually(() => stage.condition(shareRef('sc-two'))).toBe('False Conflicts');
    expect(await secrets.value('sc-red', 'sc-one')).toBe('one');
    await stage.apply(secret({ name: 'sc-two' }, { value: 'one' }));
    await eventually(() => stage.condition(shareRef('sc-two'))).toBe('True Synced');
    await stage.remove(shareRef('sc-one'));
    await eventually(
      async () => (await secrets.in('sc-red', 'sc-one'))?.metadata.annotations?.['reeve.dev/owner'],
    ).toBe('SecretShare/sc-two');
    expect(await secrets.uid('sc-red', 'sc-one')).toBe(uid);
  });

  describe('values that are built from several sources', () => {
    const sources = ['sc-login-user', 'sc-login-host'].map((name) => ({ namespace: sourceNamespace, name }));
    const built = (target: object) => share('sc-built', { sources, targets: { names: ['sc-red'] }, target });
    const template = { value: 'x://${data.user}:${data.password}@${data.host}/app' };
    const canary = 'sc-canary-4711';

    test('a copy joins its sources, and follows each of them', async () => {
      await stage.apply(
        secret({ name: 'sc-login-user' }, { user: 'u', password: canary }),
        secret({ name: 'sc-login-host' }, { host: 'one' }),
        built({ name: 'sc-built', template }),
      );
      await eventually(() => secrets.value('sc-red', 'sc-built')).toBe(`x://u:${canary}@one/app`);
      await stage.apply(secret({ name: 'sc-login-host' }, { host: 'two' }));
      await eventually(() => secrets.value('sc-red', 'sc-built')).toBe(`x://u:${canary}@two/app`);
    });

    test('a key of two sources keeps the copy', async () => {
      await stage.apply(secret({ name: 'sc-login-host' }, { host: 'three', user: 'x' }));
      await eventually(() => stage.condition(shareRef('sc-built'))).toBe('False KeyTwice');
      expect(await secrets.value('sc-red', 'sc-built')).toBe(`x://u:${canary}@two/app`);
      await stage.apply(secret({ name: 'sc-login-host' }, { host: 'two' }));
      await eventually(() => stage.condition(shareRef('sc-built'))).toBe('True Synced');
    });

    test('no status and no event shows a value, even if an expression fails on it', async () => {
      const failing = { value: '${string(int(data.password))}', other: '${data[data.password]}' };
      await stage.apply(built({ name: 'sc-built', template: failing }));
      await eventually(() => stage.condition(shareRef('sc-built'))).toBe('False TemplateFailed');
      expect(await secrets.value('sc-red', 'sc-built')).toBe(`x://u:${canary}@two/app`);
      const shown = await Promise.all([
        stage.kubectl('get', 'secretshare', 'sc-built', '-o', 'json'),
        stage.kubectl('get', 'namespace', 'sc-red', '-o', 'json'),
        stage.kubectl('get', 'events', '-A', '-o', 'json'),
      ]);
      for (const value of [canary, Buffer.from(canary).toString('base64')])
        expect(shown.join('\n')).not.toContain(value);
    });

    test('the configuration of a registry is built from a user name and a password', async () => {
      const dockerConfig = { registry: 'r.example.com', usernameKey: 'user', passwordKey: 'password' };
      await stage.apply(built({ name: 'sc-registry', dockerConfig }));
      await eventually(() => secrets.in('sc-red', 'sc-registry')).toMatchObject({
        type: 'kubernetes.io/dockerconfigjson',
      });
      const config = (await secrets.in('sc-red', 'sc-registry'))?.data?.['.dockerconfigjson'] ?? '';
      expect(JSON.parse(Buffer.from(config, 'base64').toString())).toEqual({
        auths: { 'r.example.com': { username: 'u', password: canary, auth: btoa(`u:${canary}`) } },
      });
    });

    test('both kinds of source, and a key that two fields build, are refused', async () => {
      const refused = async (spec: object): Promise<string> =>
        (await stage.tryApply([share('sc-refused', { targets: { names: ['sc-red'] }, ...spec })])).stderr;
      expect(await refused({ sources, source: sources[0] })).toContain('either source or sources');
      const target = { keys: [{ from: 'user', to: 'value' }], template };
      expect(await refused({ sources, target })).toContain('each key of the copies in one of');
    });
  });
});
