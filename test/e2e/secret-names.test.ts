// An install that names the Secrets that shares may write: Reeve has rights only to those, and uses no others.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writesOf } from '../cluster/audit-record.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { eventually } from '../support/eventually.ts';
import { kubectl } from '../support/kubectl.ts';
import { spawnReeve, startReeve, type Reeve } from '../support/reeve.ts';
import { describeCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { applyText, fileWith, mayDo, rulesIn } from './support/install-roles.ts';
import { namespaceObject, share, source, type Ref } from './support/objects.ts';
import { person } from './support/people.ts';
import { reconcilerUser, Stage } from './support/stage.ts';

const file = 'manifests/named-secrets/22-reconciler-secrets.yaml';
const [first, second] = ['--secret-name=regcred', '--secret-name=sn-second'];
const targets = { names: ['sn-*'] };
const shareOf = (name: string, spec: object = {}) =>
  share(name, { source: { namespace: 'reeve-shared', name }, targets, ...spec });
const copy = (name: string, namespace: string): Ref => ({ kind: 'Secret', namespace, name });
const shareRef = (name: string): Ref => ({ kind: 'SecretShare', name });

describeCluster('Secrets by their names', () => {
  // Uses its own cluster: the test is about the rights of Reeve, and counts its Secrets in the audit log from the start.
  let cluster: ControlPlane;
  let stage: Stage;
  let reeve: Reeve;

  const owners = async (name = 'regcred'): Promise<readonly string[]> =>
    await stage.ownersOf(copy(name, 'sn-a'), copy(name, 'sn-b'));
  const secretWrites = async (): Promise<readonly string[]> =>
    writesOf(await cluster.auditLog().records(), { user: reconcilerUser, resource: 'secrets' }).map(
      ({ verb, namespace, name }) => `${verb} ${namespace} ${name}`,
    );
  const valueIn = async (namespace: string): Promise<unknown> =>
    (await stage.get(copy('regcred', namespace)))?.['data'];

  beforeAll(async () => {
    cluster = await startControlPlane();
    stage = new Stage(cluster, 'sn-');
    await installReeve(cluster);
    await stage.kubectl('apply', '-f', file);
    reeve = await startReeve(cluster, { role: 'reconciler', args: [first] });
    await stage.apply(
      ...['sn-a', 'sn-b'].map((name) => namespaceObject(name)),
      ...['regcred', 'sn-second', 'sn-other'].map((name) => source(name, { password: 'one' })),
    );
  });
  afterAll(async () => {
    await reeve.stop();
    await cluster.stop();
  });

  it('a listed copy is created, updated, restored, created again in another form and handed over', async () => {
    const both = ['SecretShare/regcred', 'SecretShare/regcred'];
    await stage.apply(shareOf('regcred'));
    await eventually(async () => await owners()).toEqual(both);
    await stage.apply(source('regcred', { password: 'two' }));
    const two = { password: btoa('two') };
    await eventually(async () => [await valueIn('sn-a'), await valueIn('sn-b')]).toEqual([two, two]);
    const edit = ['--type=merge', '-p', JSON.stringify({ data: { password: null, more: btoa('x') } })];
    await stage.inEmergency('patch', 'secret', 'regcred', '-n', 'sn-a', ...edit);
    await eventually(async () => await valueIn('sn-a')).toEqual(two);
    await stage.inEmergency('delete', 'secret', 'regcred', '-n', 'sn-b');
    await eventually(async () => await owners()).toEqual(both);
    // The copy becomes immutable and then gets another type. A type cannot change, so Reeve creates the copy again.
    for (const target of [{ immutable: true }, { type: 'example.com/other' }]) {
      const before = await stage.uidsOf(copy('regcred', 'sn-a'));
      await stage.apply(shareOf('regcred', { target }));
      await eventually(async () => (await stage.get(copy('regcred', 'sn-a'))) ?? {}).toMatchObject(target);
      if ('type' in target) expect(await stage.uidsOf(copy('regcred', 'sn-a'))).not.toEqual(before);
    }
    await stage.apply(
      share('sn-heir', {
        source: { namespace: 'reeve-shared', name: 'sn-other' },
        targets,
        target: { name: 'regcred' },
      }),
    );
    await eventually(async () => await stage.condition(shareRef('sn-heir'))).toBe('False Conflicts');
    await stage.remove(shareRef('regcred'));
    await eventually(async () => await owners()).toEqual(['SecretShare/sn-heir', 'SecretShare/sn-heir']);
    await stage.remove(shareRef('sn-heir'));
    expect(await owners()).toEqual(['absent', 'absent']);
  });

  it('a copy whose name is not listed is not created, and the share says what to set', async () => {
    await stage.apply(shareOf('sn-other'));
    await eventually(async () => await stage.condition(shareRef('sn-other'))).toBe('False Failed');
    expect(await stage.failures(shareRef('sn-other'))).toEqual(
      ['sn-a', 'sn-b'].map(
        (namespace) =>
          `${namespace} Secret sn-other: NameNotAllowed, this installation does not allow shares of Secrets named sn-other: ` +
          "run Reeve with --secret-name=sn-other as well, and add the name to the rules for Secrets of Reeve's own account",
      ),
    );
    expect(await owners('sn-other')).toEqual(['absent', 'absent']);
    await stage.remove(shareRef('sn-other'));
  });

  it('a name that is listed without its RBAC rule makes the share name the rule, and then the copy works', async () => {
    await reeve.stop();
    // Reeve becomes ready only once it may watch all named Secrets, and waits for up to 30 s before it asks again.
    reeve = await spawnReeve(cluster, { role: 'reconciler', args: [first, second] });
    await stage.apply(shareOf('sn-second'));
    await inTime(async () => await stage.condition(shareRef('sn-second'))).toBe(
      'False InsufficientPermissions',
    );
    const { status } = await stage.mustGet(shareRef('sn-second'));
    const rules = rulesIn(status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '');
    const line =
      '- {apiGroups: [""], resources: ["secrets"], resourceNames: ["sn-second"], verbs: [get, list, watch, create, patch, delete]}';
    expect(rules).toEqual([{ role: 'reeve-reconciler-secrets', file, line }]);
    const shipped = line.replace('sn-second', 'regcred');
    await applyText(await fileWith(file, 'reeve-reconciler-secrets', [shipped, line]), cluster);
    await inTime(async () => await owners('sn-second')).toEqual([
      'SecretShare/sn-second',
      'SecretShare/sn-second',
    ]);
    await inTime(async () => await stage.condition(shareRef('sn-second'))).toBe('True Synced');
  });

  it('a restart writes nothing', async () => {
    await reeve.stop();
    const before = (await secretWrites()).length;
    reeve = await startReeve(cluster, { role: 'reconciler', args: [first, second] });
    await stage.apply(namespaceObject('sn-c'));
    await eventually(async () => await stage.namespaceCondition('sn-c')).toBe('True Synced');
    expect((await secretWrites()).slice(before)).toEqual(['patch sn-c sn-second']);
  });

  it('every request for Secrets names one, except those about sources', async () => {
    const records = await cluster.auditLog().records();
    const asked = records.filter(({ user, resource }) => user === reconcilerUser && resource === 'secrets');
    const elsewhere = asked.filter(({ namespace }) => namespace !== 'reeve-shared');
    expect(new Set(elsewhere.map(({ verb }) => verb))).toEqual(
      new Set(['list', 'watch', 'get', 'patch', 'delete']),
    );
    const bare = elsewhere.filter(
      ({ name, uri }) =>
        !['regcred', 'sn-second'].includes(name) &&
        !/[?&]fieldSelector=metadata\.name(=|%3D)(regcred|sn-second)(&|$)/.test(uri),
    );
    expect(bare.map(({ verb, uri }) => `${verb} ${uri}`)).toEqual([]);
    const refused = elsewhere.filter(({ status, uri }) => status === 403 && !uri.includes('sn-second'));
    expect(refused).toEqual([]);
    const account = person(cluster, reconcilerUser);
    await mayDo(['list', 'secrets', '-A'], 'no', account);
    const { code } = await kubectl(['create', 'secret', 'generic', 'regcred', '-n', 'sn-a'], account);
    expect(code).toBe(1);
  });
});
