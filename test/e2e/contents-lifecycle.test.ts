// When contents are created, kept and deleted: by the labels of the namespace, by ownership, and by time.
import { beforeAll, describe, expect, test } from 'vitest';
import { kubectl, mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { configMap, policy, roleBinding, share, source, type WrittenObject } from './support/objects.ts';
import { Rounds } from './support/rounds.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const label = (name: string): string => `\${namespaceObject.metadata.labels['${name}']}`;

const suspended = 'it is suspended: nothing is created, changed or deleted, not even at its expiry';

describeControllers('contents', () => {
  const stage = new Stage(sharedCluster(), 'ho-li-');
  const rounds = new Rounds(stage);
  const namesakes = new Namesakes(stage, 'ho-li-');
  withReeve(stage);

  beforeAll(async () => {
    await rounds.begin('ho-li-');
    // The last test checks this RoleBinding again.
    const binding = { ...roleBinding('team', 'readers'), expiresAfter: '12s' };
    await stage.apply(namesakes.policy('expires', { roleBindings: [binding] }, { maxDeletions: 0 }));
    await namesakes.makeNamespace('expires');
  });

  test('expiring contents exist until they expire', async () => {
    const ref = namesakes.objectIn('expires', 'RoleBinding', 'team');
    await inTime(() => stage.ownersOf(ref)).toEqual(['NamespacePolicy/ho-li-expires']);
    expect(await stage.deletionsIn('ho-li-expires')).toEqual([]);
  });

  test('contents with deletionPolicy Orphan lose only the marks of Reeve', async () => {
    const contents = {
      roleBindings: [roleBinding('team', 'readers')],
      resources: [configMap('team', { key: 'value' })],
    };
    const refs = [
      namesakes.objectIn('orphan', 'RoleBinding', 'team'),
      namesakes.objectIn('orphan', 'ConfigMap', 'team'),
    ];
    const namespace = await namesakes.provide('orphan', contents, { deletionPolicy: 'Orphan' });
    const before = await stage.uidsOf(...refs);
    await stage.apply(
      namesakes.policy('orphan', { roleBindings: contents.roleBindings }, { deletionPolicy: 'Orphan' }),
    );
    await inTime(() => stage.ownersOf(...refs)).toEqual(['NamespacePolicy/ho-li-orphan', 'nobody']);
    await namesakes.deselect('orphan');
    await inTime(() => stage.ownersOf(...refs)).toEqual(['nobody', 'nobody']);
    await stage.remove(namesakes.refTo('orphan'));
    await rounds.pass(namespace);
    expect(await stage.uidsOf(...refs)).toEqual(before);
    for (const ref of refs) {
      const { metadata } = await stage.mustGet(ref);
      expect([metadata.labels, metadata.annotations]).toEqual([
        { 'reeve.dev/orphaned-from': 'ho-li-orphan' },
        { 'reeve.dev/orphaned-from': 'NamespacePolicy/ho-li-orphan' },
      ]);
    }
  });

  test('the contents of a suspended policy are not created, changed or deleted until it is resumed', async () => {
    const contents = (group: string) => ({
      roleBindings: [roleBinding('old', 'readers'), roleBinding('team', group)],
    });
    const namespace = await namesakes.provide('suspend', contents('readers'));
    const later = { roleBindings: [roleBinding('team', 'writers'), roleBinding('new', 'readers')] };
    const refs = ['old', 'team', 'new'].map((name) => namesakes.objectIn('suspend', 'RoleBinding', name));
    await stage.apply(namesakes.policy('suspend', later, { suspend: true }));
    await inTime(() => stage.condition(namesakes.refTo('suspend'))).toBe('False Suspended');
    const owner = 'NamespacePolicy/ho-li-suspend';
    await stage.inEmergency(
      'patch',
      'rolebinding',
      'old',
      '-n',
      namespace,
      '--type=merge',
      '-p={"subjects":null}',
    );
    await rounds.pass(namespace);
    expect(await stage.ownersOf(...refs)).toEqual([owner, owner, 'absent']);
    expect(await stage.failures(namesakes.refTo('suspend'))).toEqual(
      ['new', 'team'].map((name) => `${namespace} RoleBinding ${name}: Suspended, ${suspended}`),
    );
    expect((await rounds.writes(namespace)).length).toBe(2);
    await stage.apply(namesakes.policy('suspend', later));
    await inTime(() => stage.ownersOf(...refs)).toEqual(['absent', owner, owner]);
    await inTime(() => stage.condition(namesakes.refTo('suspend'))).toBe('True Synced');
  });

  describe('contents that depend on labels of the namespace', () => {
    test('contents are missing without the label, and follow its value', async () => {
      const namespace = await namesakes.makeNamespace('label');
      const resources = [configMap('always', {}), configMap('settings', { team: label('team') })];
      await stage.apply(namesakes.policy('label', { resources }));
      await inTime(() => stage.condition(namesakes.refTo('label'))).toBe('True Synced');
      const settings = namesakes.objectIn('label', 'ConfigMap', 'settings');
      expect(await stage.ownersOf(settings)).toEqual(['absent']);
      expect((await stage.mustGet(namesakes.refTo('label'))).status?.desired).toBe(1);
      for (const team of ['red', 'blue']) {
        await stage.kubectl('label', 'namespace', namespace, `team=${team}`, '--overwrite');
        await inTime(async () => (await stage.get(settings))?.['data']).toEqual({ team });
      }
      await stage.kubectl('label', 'namespace', namespace, 'team-');
      await inTime(() => stage.ownersOf(settings)).toEqual(['absent']);
    });

    test('a skipped content is counted, and named with the missing label by the policy and by the namespace', async () => {
      const ref = namesakes.refTo('skip');
      const namespace = await namesakes.makeNamespace('skip');
      const view = "${namespaceObject.metadata.annotations['ad/view']}";
      const roleBindings = [{ ...roleBinding('viewers', 'x'), subjects: [{ kind: 'Group', name: view }] }];
      await stage.apply(namesakes.policy('skip', { roleBindings, resources: [configMap('always', {})] }));
      const statusOf = async () => (await stage.mustGet(ref)).status;
      const message = 'annotation ad/view is missing';
      await inTime(statusOf).toMatchObject({
        desired: 1,
        synced: 1,
        failed: 0,
        skipped: 1,
        skippedContents: [{ namespace, kind: 'RoleBinding', name: 'viewers', message }],
      });
      await inTime(() => stage.condition(ref)).toBe('True Synced');
      const ready = async () =>
        (await stage.mustGet({ kind: 'Namespace', name: namespace })).status?.conditions?.find(
          ({ type }) => type === 'reeve.dev/Ready',
        )?.message;
      await inTime(ready).toBe(`1 of 2 provided; RoleBinding viewers skipped: ${message}`);
      expect(await stage.kubectl('get', 'nspol', ref.name, '-o', 'wide')).toMatch(/SKIPPED.*\n.* 1 /);
      await stage.kubectl('annotate', 'namespace', namespace, 'ad/view=viewers');
      await inTime(statusOf).toMatchObject({ desired: 2, synced: 2, skipped: 0, skippedContents: [] });
      await stage.kubectl('annotate', 'namespace', namespace, 'ad/view-');
      await inTime(statusOf).toMatchObject({ desired: 1, skipped: 1 });
      await inTime(() => stage.ownersOf(namesakes.objectIn('skip', 'RoleBinding', 'viewers'))).toEqual([
        'absent',
      ]);
    });

    test('a label or annotation that makes a content fail is refused when the Namespace is written', async () => {
      const namespace = await namesakes.makeNamespace('refuse', { share: '2' });
      const tenth = "${string(10 / int(namespaceObject.metadata.labels['share']))}";
      const group = "${namespaceObject.metadata.annotations['ad/view']}";
      const roleBindings = [{ ...roleBinding('viewers', 'x'), subjects: [{ kind: 'Group', name: group }] }];
      await stage.apply(
        namesakes.policy('refuse', { roleBindings, resources: [configMap('settings', { share: tenth })] }),
      );
      const settings = namesakes.objectIn('refuse', 'ConfigMap', 'settings');
      await inTime(() => stage.ownersOf(settings)).toEqual(['NamespacePolicy/ho-li-refuse']);
      await expect(stage.kubectl('label', 'namespace', namespace, 'share=0', '--overwrite')).rejects.toThrow(
        'label share="0" makes ConfigMap settings fail: data.share has an error: division by zero',
      );
      await expect(
        stage.kubectl('annotate', 'namespace', namespace, 'ad/view=system:masters'),
      ).rejects.toThrow(
        'annotation ad/view="system:masters" makes RoleBinding viewers fail: subjects[0].name is "system:masters"',
      );
    });

    test('contents stay as they are when they cannot be rendered', async () => {
      const namespace = await namesakes.makeNamespace('render', { share: '2' });
      const tenth = "${string(10 / int(namespaceObject.metadata.labels['share']))}";
      const resources = [
        configMap('always', { share: label('share') }),
        configMap('settings', { share: tenth }),
      ];
      await stage.apply(namesakes.policy('render', { resources }, { validationActions: ['Warn'] }));
      const refs = ['always', 'settings'].map((name) => namesakes.objectIn('render', 'ConfigMap', name));
      const data = async () => Promise.all(refs.map(async (ref) => (await stage.get(ref))?.['data']));
      await inTime(data).toEqual([{ share: '2' }, { share: '5' }]);
      await stage.kubectl('label', 'namespace', namespace, 'share=0', '--overwrite');
      await inTime(() => stage.condition(namesakes.refTo('render'))).toBe('False Failed');
      expect(await stage.failures(namesakes.refTo('render'))).toContainEqual(
        expect.stringContaining(
          `${namespace} RenderFailed, ConfigMap settings: data.share (from label share) has an error: division by zero`,
        ),
      );
      await rounds.pass(namespace);
      expect(await data()).toEqual([{ share: '2' }, { share: '5' }]);
      expect(await rounds.writes(namespace)).toEqual([
        'patch configmaps always',
        'patch configmaps settings',
      ]);
      await stage.kubectl('label', 'namespace', namespace, 'share=5', '--overwrite');
      await inTime(data).toEqual([{ share: '5' }, { share: '2' }]);
    });

    test('contents stay as they are while a match condition errors', async () => {
      const namespace = await namesakes.makeNamespace('match', { size: '2' });
      const matchConditions = [
        { name: 'large', expression: "int(namespaceObject.metadata.labels['size']) > 1" },
      ];
      const match = { names: [namespace], matchConditions };
      const contents = { roleBindings: [roleBinding('team', 'readers')] };
      // A policy with Deny would refuse the changed label.
      await stage.apply(policy(namespace, { match, contents, validationActions: ['Warn'] }));
      const ref = namesakes.objectIn('match', 'RoleBinding', 'team');
      const owner = `NamespacePolicy/${namespace}`;
      await inTime(() => stage.ownersOf(ref)).toEqual([owner]);
      await stage.kubectl('label', 'namespace', namespace, 'size=large', '--overwrite');
      await inTime(() => stage.condition(namesakes.refTo('match'))).toBe('False Failed');
      expect(await stage.failures(namesakes.refTo('match'))).toEqual([
        `${namespace} MatchFailed, match condition large: the text is not a number of this type`,
      ]);
      await rounds.pass(namespace);
      expect(await stage.ownersOf(ref)).toEqual([owner]);
      await stage.kubectl('label', 'namespace', namespace, 'size=1', '--overwrite');
      await inTime(() => stage.ownersOf(ref)).toEqual(['absent']);
    });
  });

  test('contents are created again when the namespace is deleted and created again', async () => {
    const namespace = await namesakes.provide('again', { roleBindings: [roleBinding('team', 'readers')] });
    const ref = namesakes.objectIn('again', 'RoleBinding', 'team');
    const [before] = await stage.uidsOf(ref);
    await stage.kubectl('delete', 'namespace', namespace, '--timeout=60s');
    await inTime(async () => (await stage.mustGet(namesakes.refTo('again'))).status?.desired).toBe(0);
    await namesakes.makeNamespace('again');
    await inTime(() => stage.ownersOf(ref)).toEqual([`NamespacePolicy/${namespace}`]);
    expect(await stage.uidsOf(ref)).not.toEqual([before]);
    await inTime(() => stage.namespaceCondition(namespace)).toBe('True Synced');
  });

  test('contents that another policy refuses are not written, and the status reports it', async () => {
    const namespace = await namesakes.makeNamespace('refused');
    const match = { names: [namespace] };
    await stage.apply(policy('ho-li-rules', { match, rbac: { allowedRoleRefs: ['ClusterRole/view'] } }));
    const roleBindings = [roleBinding('allowed', 'readers'), roleBinding('refused', 'writers', 'edit')];
    await stage.apply(namesakes.policy('refused', { roleBindings }));
    await inTime(() => stage.condition(namesakes.refTo('refused'))).toBe('False Failed');
    expect(await stage.failures(namesakes.refTo('refused'))).toEqual([
      `${namespace} RoleBinding refused: RefusedByPolicy, policy ho-li-rules, rbac.allowedRoleRefs: roleRef: found ClusterRole/edit; accepted: ClusterRole/view`,
    ]);
    const refs = ['allowed', 'refused'].map((name) => namesakes.objectIn('refused', 'RoleBinding', name));
    expect(await stage.ownersOf(...refs)).toEqual([`NamespacePolicy/${namespace}`, 'absent']);
    await stage.remove({ kind: 'NamespacePolicy', name: 'ho-li-rules' });
    await inTime(() => stage.condition(namesakes.refTo('refused'))).toBe('True Synced');
  });

  test('a RoleBinding that another policy has come to refuse still loses its subjects', async () => {
    const [granted, revoked] = ['readers', 'writers'].map((group) => [roleBinding('team', group, 'edit')]);
    const namespace = await namesakes.provide('revoke', { roleBindings: revoked });
    const match = { names: [namespace] };
    await stage.apply(policy('ho-li-only-view', { match, rbac: { allowedRoleRefs: ['ClusterRole/view'] } }));
    await stage.apply(namesakes.policy('revoke', { roleBindings: granted }));
    const ref = namesakes.objectIn('revoke', 'RoleBinding', 'team');
    await inTime(() => stage.condition(namesakes.refTo('revoke'))).toBe('True Synced');
    expect(await stage.mustGet(ref)).toMatchObject({ subjects: [{ name: 'readers' }] });
    await stage.remove({ kind: 'NamespacePolicy', name: 'ho-li-only-view' });
  });

  describe('contents whose names are taken', () => {
    const theirs = (name: string, ownerReferences: readonly object[] = []): WrittenObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'team', namespace: `ho-li-${name}`, ownerReferences },
      data: { key: 'theirs', more: 'of it' },
    });
    const resources = [configMap('team', { key: 'ours' })];

    test('the existing objects stay as they are until their owner hands them over', async () => {
      const namespace = await namesakes.makeNamespace('adopt');
      const tenant = { kubeconfig: await stage.cluster.clientKubeconfig('ho-li-tenant') };
      const right = ['create', 'rolebinding', 'tenant', '--clusterrole=admin', '--user=ho-li-tenant'];
      await stage.kubectl(...right, '-n', namespace);
      const create = ['create', 'rolebinding', 'team', '--clusterrole=view', '--user=bob', '-n', namespace];
      await inTime(async () => (await kubectl(create, tenant)).stderr).toMatch(/^$|already exists/);
      const ref = namesakes.objectIn('adopt', 'RoleBinding', 'team');
      const before = await stage.mustGet(ref);
      await stage.apply(namesakes.policy('adopt', { roleBindings: [roleBinding('team', 'readers')] }));
      await inTime(() => stage.condition(namesakes.refTo('adopt'))).toBe('False Conflicts');
      expect(await stage.failures(namesakes.refTo('adopt'))).toEqual([
        `${namespace} RoleBinding team: AlreadyExists, a RoleBinding of this name exists that Reeve does not manage; ` +
          'its owner can label it reeve.dev/adopt=true to hand it over, or delete or rename it',
      ]);
      await inTime(() => stage.namespaceCondition(namespace)).toBe('False AlreadyExists');
      expect(await stage.mustGet(ref)).toEqual(before);
      await mustKubectl(['label', 'rolebinding', 'team', 'reeve.dev/adopt=true', '-n', namespace], tenant);
      await inTime(() => stage.ownersOf(ref)).toEqual([`NamespacePolicy/${namespace}`]);
      const { metadata, subjects } = await stage.mustGet(ref);
      expect(metadata.uid).toBe(before.metadata.uid);
      expect(subjects).toMatchObject([{ kind: 'Group', name: 'readers' }]);
      await inTime(() => stage.condition(namesakes.refTo('adopt'))).toBe('True Synced');
      await inTime(() => stage.namespaceCondition(namespace)).toBe('True Synced');
    });

    test('contents are created when the existing objects are deleted', async () => {
      const namespace = await namesakes.makeNamespace('goes');
      await stage.apply(theirs('goes'), namesakes.policy('goes', { resources }));
      await inTime(() => stage.condition(namesakes.refTo('goes'))).toBe('False Conflicts');
      await stage.kubectl('delete', 'configmap', 'team', '-n', namespace);
      const ref = namesakes.objectIn('goes', 'ConfigMap', 'team');
      await inTime(() => stage.ownersOf(ref)).toEqual([`NamespacePolicy/${namespace}`]);
      expect((await stage.mustGet(ref))['data']).toEqual({ key: 'ours' });
    });

    test('an object with a controller stays as it is, even when it is handed over', async () => {
      const namespace = await namesakes.makeNamespace('controlled');
      await stage.apply({ ...theirs('controlled'), metadata: { name: 'parent', namespace } });
      const [uid] = await stage.uidsOf(namesakes.objectIn('controlled', 'ConfigMap', 'parent'));
      const parent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid };
      await stage.apply(theirs('controlled', [{ ...parent, controller: true }]));
      await stage.kubectl('label', 'configmap', 'team', 'reeve.dev/adopt=true', '-n', namespace);
      await stage.apply(namesakes.policy('controlled', { resources }));
      await inTime(() => stage.condition(namesakes.refTo('controlled'))).toBe('False Conflicts');
      const ref = namesakes.objectIn('controlled', 'ConfigMap', 'team');
      await rounds.pass(namespace);
      expect(await stage.ownersOf(ref)).toEqual(['nobody']);
      // The object has an owner, but no controlling owner.
      await stage.apply(theirs('controlled', [parent]));
      await inTime(() => stage.ownersOf(ref)).toEqual([`NamespacePolicy/${namespace}`]);
      await inTime(async () => (await stage.mustGet(ref))['data']).toEqual({ key: 'ours' });
    });
  });

  test('contents are never created in excluded namespaces', async () => {
    const namespace = await namesakes.makeNamespace('excluded');
    // The webhook counts the namespaces that it knows.
    await inTime(() => stage.namespaceCondition(namespace)).toBe('True NothingProvided');
    const excluded = ['kube-system', 'kube-public', 'kube-node-lease', 'reeve-system', 'reeve-shared'];
    const names = [...excluded, namespace];
    await stage.apply(source('ho-li-source', { user: 'ann' }));
    const name = 'ho-li-excluded';
    const written = await stage.apply(
      policy(name, { match: { names }, contents: { roleBindings: [roleBinding(name, 'readers')] } }),
      share(name, {
        source: { namespace: 'reeve-shared', name: 'ho-li-source' },
        targets: { names },
        target: { name },
      }),
    );
    expect(written).toBe(
      `Warning: NamespacePolicy/${name} now reaches 1 namespace: ${namespace}\n` +
        `Warning: SecretShare/${name} now reaches 1 namespace: ${namespace}\n`,
    );
    for (const kind of ['NamespacePolicy', 'SecretShare'] as const) {
      await inTime(() => stage.condition({ kind, name })).toBe('True Synced');
      expect((await stage.mustGet({ kind, name })).status?.desired).toBe(1);
    }
    for (const place of excluded) {
      const refs = (['RoleBinding', 'Secret'] as const).map((kind) => ({ kind, name, namespace: place }));
      expect(await stage.ownersOf(...refs)).toEqual(['absent', 'absent']);
      expect(await stage.namespaceCondition(place)).toBe('there is no condition reeve.dev/Ready');
    }
  });

  test('expired contents are deleted, whatever maxDeletions says', async () => {
    const ref = namesakes.objectIn('expires', 'RoleBinding', 'team');
    await inTime(() => stage.ownersOf(ref)).toEqual(['absent']);
    await inTime(() => stage.condition(namesakes.refTo('expires'))).toBe('True Synced');
    await rounds.pass('ho-li-expires');
    const what = 'rolebindings.rbac.authorization.k8s.io team';
    expect(await rounds.writes('ho-li-expires')).toEqual([`patch ${what}`, `delete ${what}`]);
  });
});
