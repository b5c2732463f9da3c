// Fields that policies add to ServiceAccounts of other owners: merged, repaired, and taken back without anything else.
import { describe, expect, test } from 'vitest';
import { fieldsAnnotation, fieldsManager, oldFieldsManager } from '../../src/schema/names.ts';
import { oldMarkOf } from '../../src/policy/plan/account.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { Namesakes } from './support/namesakes.ts';
import { policy, type Ref } from './support/objects.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const prefix = 'ho-sa-';
const regcred = { name: 'default', imagePullSecrets: ['regcred'] };
const noToken = { name: 'default', automountServiceAccountToken: false };

interface Fields {
  readonly secrets: readonly string[];
  readonly automount?: boolean;
}

describeControllers('fields of ServiceAccounts', () => {
  const stage = new Stage(sharedCluster(), prefix);
  const namesakes = new Namesakes(stage, prefix);
  const reeve = withReeve(stage);

  const accountIn = (name: string, account = 'default'): Ref =>
    namesakes.objectIn(name, 'ServiceAccount', account);

  const fieldsIn = async (name: string, account?: string): Promise<Fields | undefined> => {
    const object = await stage.get(accountIn(name, account));
    if (object === undefined) return undefined;
    const list = (object['imagePullSecrets'] ?? []) as readonly { readonly name: string }[];
    const automount = object['automountServiceAccountToken'];
    const secrets = list.map((each) => each.name);
    return typeof automount === 'boolean' ? { secrets, automount } : { secrets };
  };

  /** The managers of Reeve that own fields of the account. */
  const managersIn = async (name: string): Promise<readonly string[]> => {
    const { metadata } = await stage.mustGet(accountIn(name));
    const entries = ((metadata as object as Record<string, unknown>)['managedFields'] ?? []) as readonly {
      readonly manager: string;
    }[];
    return entries
      .map(({ manager }) => manager)
      .filter((each) => each.startsWith(oldFieldsManager) || each === fieldsManager);
  };

  const annotationIn = async (name: string): Promise<string | undefined> =>
    (await stage.mustGet(accountIn(name))).metadata.annotations?.[fieldsAnnotation];

  const change = async (name: string, patch: object): Promise<void> => {
    const args = ['patch', 'serviceaccount', 'default', '-n', namesakes.nameOf(name), '--type=merge'];
    await stage.kubectl(...args, '-p', JSON.stringify(patch));
  };

  const pull = (...names: readonly string[]): object => ({
    imagePullSecrets: names.map((each) => ({ name: each })),
  });

  /** A second policy for the same namespace. */
  const other = (name: string, contents: object, more: object = {}) =>
    policy(`${namesakes.nameOf(name)}-z`, {
      match: { namespaceSelector: { matchLabels: { contents: name } } },
      contents,
      ...more,
    });

  describe('adding', () => {
    test('the ServiceAccount default gets the fields and no mark of Reeve', async () => {
      await namesakes.provide('added', { serviceAccounts: [{ ...regcred, ...noToken }] });
      expect(await fieldsIn('added')).toEqual({ secrets: ['regcred'], automount: false });
      expect(await stage.ownersOf(accountIn('added'))).toEqual(['nobody']);
      expect((await stage.mustGet(accountIn('added'))).metadata).not.toHaveProperty('labels');
      expect(await managersIn('added')).toEqual([fieldsManager]);
      expect(await annotationIn('added')).toBe(
        'NamespacePolicy/ho-sa-added: automountServiceAccountToken, imagePullSecrets/regcred',
      );
    });

    test('two policies add their Secrets to one ServiceAccount', async () => {
      await namesakes.provide('merged', { serviceAccounts: [regcred] });
      await stage.apply(
        other('merged', { serviceAccounts: [{ name: 'default', imagePullSecrets: ['mirror'] }] }),
      );
      await inTime(() => fieldsIn('merged')).toEqual({ secrets: ['regcred', 'mirror'] });
      await stage.remove(namesakes.refTo('merged'));
      expect(await fieldsIn('merged')).toEqual({ secrets: ['mirror'] });
      await inTime(() => managersIn('merged')).toHaveLength(1);
    });

    test('a token that is not mounted wins over one that is, and the other policy reports a conflict', async () => {
      const mounted = { ...regcred, automountServiceAccountToken: true };
      await namesakes.provide('contradiction', { serviceAccounts: [noToken] });
      const loser = other('contradiction', { serviceAccounts: [mounted] });
      await stage.apply(loser);
      await inTime(() => fieldsIn('contradiction')).toEqual({ secrets: ['regcred'], automount: false });
      const ref = { kind: 'NamespacePolicy', name: loser.metadata.name } as const;
      await inTime(() => stage.condition(ref)).toMatch(/^False/);
      expect((await stage.failures(ref)).join()).toMatch(
        /ServiceAccount default: ProvidedByAnother, NamespacePolicy\/ho-sa-contradiction sets automountServiceAccountToken to false/,
      );
    });

    test('a ServiceAccount that does not exist is reported, not created, and gets the fields once a user creates it', async () => {
      const namespace = await namesakes.makeNamespace('absent');
      await stage.apply(namesakes.policy('absent', { serviceAccounts: [{ ...regcred, name: 'builder' }] }));
      await inTime(async () => (await stage.failures(namesakes.refTo('absent'))).join()).toMatch(
        /ServiceAccount builder: NotCreatedYet/,
      );
      expect(await fieldsIn('absent', 'builder')).toBeUndefined();
      await stage.kubectl('create', 'serviceaccount', 'builder', '-n', namespace);
      await inTime(() => fieldsIn('absent', 'builder')).toEqual({ secrets: ['regcred'] });
      await inTime(() => stage.namespaceCondition(namespace)).toBe('True Synced');
    });

    test('a ServiceAccount that Kubernetes creates again gets the fields again', async () => {
      const namespace = await namesakes.provide('again', { serviceAccounts: [regcred] });
      const [before] = await stage.uidsOf(accountIn('again'));
      await stage.kubectl('delete', 'serviceaccount', 'default', '-n', namespace);
      await inTime(() => fieldsIn('again')).toEqual({ secrets: ['regcred'] });
      expect((await stage.uidsOf(accountIn('again')))[0]).not.toBe(before);
    });

    test('a ServiceAccount that a policy provides as a whole is a conflict', async () => {
      const whole = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'whole' } };
      await namesakes.provide('whole', { resources: [whole] });
      const fields = other('whole', { serviceAccounts: [{ ...regcred, name: 'whole' }] });
      await stage.apply(fields);
      const ref = { kind: 'NamespacePolicy', name: fields.metadata.name } as const;
      await inTime(async () => (await stage.failures(ref)).join()).toMatch(
        /ServiceAccount whole: ProvidedByAnother/,
      );
      expect(await fieldsIn('whole', 'whole')).toEqual({ secrets: [] });
    });
  });

  describe('keeping', () => {
    test('Secrets that a user adds stay, and a Secret of the policy comes back', async () => {
      await namesakes.provide('drift', { serviceAccounts: [{ ...regcred, ...noToken }] });
      await change('drift', { ...pull('theirs'), automountServiceAccountToken: true });
      await inTime(() => fieldsIn('drift')).toEqual({ secrets: ['theirs', 'regcred'], automount: false });
      expect(await managersIn('drift')).toHaveLength(1);
    });

    test('a restart of Reeve writes nothing, and Reeve still knows what it added', async () => {
      const namespace = await namesakes.provide('restart', { serviceAccounts: [regcred] });
      await change('restart', pull('theirs', 'regcred'));
      await inTime(() => managersIn('restart')).toHaveLength(1);
      await reeve.process.stop();
      const before = await stage.reeveWrites(namespace);
      await reeve.start();
      await inTime(() => stage.condition(namesakes.refTo('restart'))).toBe('True Synced');
      expect(await stage.reeveWrites(namespace)).toEqual(before);
      await stage.apply(namesakes.policy('restart', { serviceAccounts: [noToken] }));
      await inTime(() => fieldsIn('restart')).toEqual({ secrets: ['theirs'], automount: false });
    });

    test('fields that a version before the annotation added get the annotation, and are taken back later', async () => {
      const namespace = await namesakes.provide('upgrade', { serviceAccounts: [{ ...regcred, ...noToken }] });
      const provider = 'NamespacePolicy/ho-sa-upgrade';
      await reeve.process.stop();
      await change('upgrade', { metadata: { annotations: null, managedFields: [{}] } });
      const marks = ['imagePullSecrets/regcred', 'automountServiceAccountToken'].map((item) =>
        oldMarkOf(provider, item),
      );
      const manager = `${oldFieldsManager}/${marks.sort().join('')}`;
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } };
      const fields = { ...pull('regcred'), automountServiceAccountToken: false };
      const apply = ['apply', '--server-side', '--force-conflicts', `--field-manager=${manager}`, '-f', '-'];
      await mustKubectl(apply, { ...stage.administrator, input: JSON.stringify({ ...account, ...fields }) });
      await reeve.start();
      await inTime(() => managersIn('upgrade')).toEqual([fieldsManager]);
      expect(await annotationIn('upgrade')).toBe(
        `${provider}: automountServiceAccountToken, imagePullSecrets/regcred`,
      );
      await stage.apply(namesakes.policy('upgrade', { serviceAccounts: [noToken] }));
      await inTime(() => fieldsIn('upgrade')).toEqual({ secrets: [], automount: false });
    });

    test('fields that a policy loses while Reeve does not run are taken back later', async () => {
      await namesakes.provide('offline', { serviceAccounts: [regcred] });
      await reeve.process.stop();
      await stage.applyInEmergency(namesakes.policy('offline', { serviceAccounts: [] }));
      await reeve.start();
      await inTime(() => fieldsIn('offline')).toEqual({ secrets: [] });
      expect(await managersIn('offline')).toEqual([]);
    });

    test('a suspended policy adds nothing and takes nothing back', async () => {
      await namesakes.provide('suspended', { serviceAccounts: [regcred] });
      const edited = { serviceAccounts: [{ name: 'default', imagePullSecrets: ['later'] }] };
      await stage.apply(namesakes.policy('suspended', edited, { suspend: true }));
      await inTime(() => stage.condition(namesakes.refTo('suspended'))).toMatch(/Suspended|True/);
      expect(await fieldsIn('suspended')).toEqual({ secrets: ['regcred'] });
      await stage.apply(namesakes.policy('suspended', edited, { suspend: false }));
      await inTime(() => fieldsIn('suspended')).toEqual({ secrets: ['later'] });
    });
  });

  describe('taking back', () => {
    test('a field that the policy no longer has is taken back, and nothing of another user', async () => {
      const namespace = await namesakes.makeNamespace('edited');
      await inTime(() => fieldsIn('edited')).toEqual({ secrets: [] });
      await change('edited', pull('first'));
      await stage.apply(namesakes.policy('edited', { serviceAccounts: [{ ...regcred, ...noToken }] }));
      await inTime(() => fieldsIn('edited')).toEqual({ secrets: ['first', 'regcred'], automount: false });
      await stage.apply(namesakes.policy('edited', { serviceAccounts: [noToken] }));
      await inTime(() => fieldsIn('edited')).toEqual({ secrets: ['first'], automount: false });
      await stage.apply(namesakes.policy('edited', {}));
      await inTime(() => fieldsIn('edited')).toEqual({ secrets: ['first'] });
      expect(await managersIn('edited')).toEqual([]);
      await inTime(() => stage.namespaceCondition(namespace)).toBe('True NothingProvided');
    });

    test('a deleted policy waits until its fields are taken back', async () => {
      await namesakes.provide('deleted', { serviceAccounts: [{ ...regcred, ...noToken }] });
      await change('deleted', pull('regcred', 'theirs'));
      await inTime(() => managersIn('deleted')).toHaveLength(1);
      await stage.remove(namesakes.refTo('deleted'));
      expect(await fieldsIn('deleted')).toEqual({ secrets: ['theirs'] });
      expect(await managersIn('deleted')).toEqual([]);
    });

    test('a namespace that the policy no longer matches loses the fields', async () => {
      await namesakes.provide('left', { serviceAccounts: [regcred] });
      await namesakes.deselect('left');
      await inTime(() => fieldsIn('left')).toEqual({ secrets: [] });
      expect(await managersIn('left')).toEqual([]);
    });

    test('a Secret that a user had added before the policy stays', async () => {
      await namesakes.makeNamespace('before');
      await inTime(() => fieldsIn('before')).toEqual({ secrets: [] });
      await change('before', pull('regcred'));
      await stage.apply(namesakes.policy('before', { serviceAccounts: [regcred] }));
      await inTime(() => stage.condition(namesakes.refTo('before'))).toBe('True Synced');
      await stage.remove(namesakes.refTo('before'));
      expect(await fieldsIn('before')).toEqual({ secrets: ['regcred'] });
    });

    test('with deletionPolicy Orphan the fields stay, and Reeve no longer owns them', async () => {
      await namesakes.provide(
        'orphan',
        { serviceAccounts: [{ ...regcred, ...noToken }] },
        { deletionPolicy: 'Orphan' },
      );
      await stage.remove(namesakes.refTo('orphan'));
      expect(await fieldsIn('orphan')).toEqual({ secrets: ['regcred'], automount: false });
      expect(await managersIn('orphan')).toEqual([]);
    });

    test('more accounts than maxDeletions lose their fields, because nothing is deleted', async () => {
      await namesakes.provide('many', { serviceAccounts: [regcred] }, { maxDeletions: 0 });
      await stage.apply(namesakes.policy('many', {}, { maxDeletions: 0 }));
      await inTime(() => fieldsIn('many')).toEqual({ secrets: [] });
      expect(await managersIn('many')).toEqual([]);
    });
  });
});
