// Two sides provide the same objects: one side owns them, and the namespace always has them while one side exists.
import { beforeAll, expect, test } from 'vitest';

import { mustKubectl } from '../support/kubectl.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { policy, source } from './support/objects.ts';
import { Rivals, sourceName, type Side, type Wishes } from './support/rivals.ts';
import { Stage } from './support/stage.ts';
import { withReeve } from './support/with-reeve.ts';

const absent = ['absent', 'absent', 'absent'];
const synced = ['True Synced', 'True Synced'];
const idle = ['True MatchesNothing', 'True MatchesNothing'];
const conflicts = ['False Conflicts', 'False Conflicts'];

/** By kind: the fields in which the two sides differ. */
type Differing = Readonly<Record<string, string>>;

describeControllers('two that provide the same', () => {
  const stage = new Stage(sharedCluster(), 'ho-');
  withReeve(stage);

  beforeAll(async () => {
    await stage.apply(
      source(sourceName, { user: 'ann', password: 'one' }),
      source('ho-other-source', { user: 'bob' }),
    );
  });

  /** Waits until both sides exist, `a` owns all objects, and both are satisfied, because they want the same. */
  async function settled(rivals: Rivals): Promise<void> {
    await inTime(() => rivals.owners()).toEqual(rivals.of('a'));
    await inTime(() => rivals.readiness('a')).toEqual(synced);
    await inTime(() => rivals.readiness('b')).toEqual(synced);
    expect(await rivals.failures('b')).toEqual([]);
    await inTime(() => stage.namespaceCondition(rivals.namespace)).toBe('True Synced');
  }

  /** Waits until `a` owns all objects, and `b` and the namespace report in which fields `b` wants others. */
  async function inConflict(rivals: Rivals, differing: Differing): Promise<void> {
    await inTime(() => rivals.owners()).toEqual(rivals.of('a'));
    await inTime(() => rivals.readiness('a')).toEqual(synced);
    await inTime(() => rivals.readiness('b')).toEqual(conflicts);
    const { namespace } = rivals;
    const lines = Object.entries(differing).map(([kind, fields]) => {
      const owner = `${kind === 'Secret' ? 'SecretShare' : 'NamespacePolicy'}/${namespace}-a`;
      const advice = 'make both the same, or rename or remove one';
      const message = `${owner} already provides it, with different ${fields}; ${advice}`;
      return `${namespace} ${kind} shared: ProvidedByAnother, ${message}`;
    });
    expect(await rivals.failures('b')).toEqual(lines);
    await inTime(() => stage.namespaceCondition(namespace)).toBe('False ProvidedByAnother');
  }

  const comings = [
    { coming: 'a-b', order: ['a', 'b'] },
    { coming: 'b-a', order: ['b', 'a'] },
    { coming: 'both', order: [] },
  ] as const;

  async function expectInEveryOrder(end: string, act: (rivals: Rivals) => Promise<void>): Promise<void> {
    await Promise.all(
      comings.map(async ({ coming, order }) => {
        const rivals = new Rivals(stage, `ho-${coming}-${end}`);
        await rivals.makeNamespace();
        const first = order[0];
        if (first === undefined) await stage.apply(...rivals.written('b', {}), ...rivals.written('a', {}));
        else await rivals.come(first);
        const begun = first ?? 'a';
        await inTime(() => rivals.owners()).toEqual(rivals.of(begun));
        const before = await rivals.uids();
        if (order[1] !== undefined) await rivals.come(order[1]);
        await settled(rivals);
        expect(await rivals.uids()).toEqual(before);
        await act(rivals);
        expect(await rivals.owners()).toEqual(absent);
        await inTime(() => stage.namespaceCondition(rivals.namespace)).toBe('True NothingProvided');
      }),
    );
  }

  /** Deletes one side, checks that the other side owns the unchanged objects, and deletes it too. */
  async function goes(rivals: Rivals, first: Side): Promise<void> {
    const other = first === 'a' ? 'b' : 'a';
    const before = await rivals.uids();
    await rivals.go(first);
    expect(await rivals.owners()).toEqual(rivals.of(other));
    expect(await rivals.uids()).toEqual(before);
    await inTime(() => rivals.readiness(other)).toEqual(synced);
    expect(await stage.deletionsIn(rivals.namespace)).toEqual([]);
    await rivals.go(other);
  }

  test('in any order of creation, the owner of the objects is deleted first', async () => {
    await expectInEveryOrder('winner', async (rivals) => goes(rivals, 'a'));
  });

  test('in any order of creation, the provider without objects is deleted first', async () => {
    await expectInEveryOrder('loser', async (rivals) => goes(rivals, 'b'));
  });

  test('in any order of creation, both are deleted at once', async () => {
    await expectInEveryOrder('both', async (rivals) => rivals.go('a', 'b'));
  });

  test('in any order of creation, both lose the namespace at once', async () => {
    await expectInEveryOrder('deselect', async (rivals) => {
      await rivals.deselect();
      await inTime(() => rivals.owners()).toEqual(absent);
      await inTime(() => rivals.readiness('a')).toEqual(idle);
      await inTime(() => rivals.readiness('b')).toEqual(idle);
    });
  });

  /** Creates both sides. `a` owns all objects, and `b` wants them, with other content in the fields that differ. */
  async function both(name: string, a: Wishes, b: Wishes, differing?: Differing): Promise<Rivals> {
    const rivals = new Rivals(stage, `ho-${name}`);
    await rivals.makeNamespace();
    await stage.apply(...rivals.written('a', a), ...rivals.written('b', b));
    await (differing === undefined ? settled(rivals) : inConflict(rivals, differing));
    return rivals;
  }

  const ofAnn = { group: 'readers', data: { key: 'value', more: 'of it' } };
  const ofBob = { group: 'writers', data: { key: 'other' }, source: 'ho-other-source' };
  const annsAndBobs = { ConfigMap: 'data', RoleBinding: 'subjects', Secret: 'data' };
  const annsContents = ['view: readers', ofAnn.data, { user: 'ann', password: 'one' }];
  const bobsContents = ['view: writers', ofBob.data, { user: 'bob' }];

  test('the author of a new owner is warned, and the new owner changes the objects in place where they differ', async () => {
    const rivals = await both('content', ofAnn, ofBob, annsAndBobs);
    const before = await rivals.uids();
    expect(await rivals.contents()).toEqual(annsContents);
    await rivals.go('a');
    expect(await rivals.owners()).toEqual(rivals.of('b'));
    expect(await rivals.contents()).toEqual(bobsContents);
    const { namespace } = rivals;
    expect(await stage.apply(...rivals.written('a', ofAnn))).toContain(
      `SecretShare/${namespace}-a takes Secret shared in 1 namespace over from SecretShare/${namespace}-b: ${namespace}\n`,
    );
    await inConflict(rivals, annsAndBobs);
    expect(await rivals.contents()).toEqual(annsContents);
    expect(await rivals.uids()).toEqual(before);
    expect(await stage.deletionsIn(rivals.namespace)).toEqual([]);
  });

  test('an object that cannot be changed is deleted and created back to back', async () => {
    const rivals = await both(
      'replaced',
      { role: 'view', immutable: true },
      { role: 'edit', immutable: true, source: 'ho-other-source' },
      { RoleBinding: 'roleRef', Secret: 'data' },
    );
    const [binding, settings, secret] = await rivals.uids();
    const begun = (await stage.reeveWrites(rivals.namespace)).length;
    await rivals.go('a');
    expect(await rivals.owners()).toEqual(rivals.of('b'));
    expect(await rivals.contents()).toEqual(['edit: readers', { key: 'value' }, { user: 'bob' }]);
    const after = await rivals.uids();
    expect(after[1]).toBe(settings);
    expect(after[0]).not.toBe(binding);
    expect(after[2]).not.toBe(secret);
    const writes = (await stage.reeveWrites(rivals.namespace)).slice(begun);
    for (const what of ['rolebindings.rbac.authorization.k8s.io shared', 'secrets shared']) {
      const own = writes.filter((each) => each.endsWith(` ${what}`));
      expect(own).toEqual([`delete ${what}`, `patch ${what}`]);
      // Objects of different owners are written at once.
      const isSecret = what.startsWith('secrets');
      const ofOwner = writes.filter((each) => each.includes(' secrets ') === isSecret);
      const at = ofOwner.indexOf(`delete ${what}`);
      expect(ofOwner.slice(at, at + 2)).toEqual(own);
    }
  });

  test('the fuse does not count objects that are handed over, in the webhook or in the reconciler', async () => {
    const rivals = await both('fuse', { maxDeletions: 0 }, {});
    await rivals.go('a');
    expect(await rivals.owners()).toEqual(rivals.of('b'));
    await inTime(() => rivals.readiness('b')).toEqual(synced);
  });

  test('the owner of the objects is deleted and created again at once', async () => {
    const rivals = await both('again', {}, {});
    const before = await rivals.uids();
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rivals.written('a', {}) });
    await mustKubectl(['replace', '--force', '-f', '-'], { ...stage.administrator, input });
    await settled(rivals);
    expect(await rivals.uids()).toEqual(before);
    expect(await stage.deletionsIn(rivals.namespace)).toEqual([]);
  });

  test('an expired object is handed over to the other provider', async () => {
    const rivals = await both('expiry', {}, {});
    const before = await rivals.uids();
    await rivals.come('a', { expiresAt: new Date(Date.now() + 1000).toISOString() });
    const [binding] = rivals.objects;
    await inTime(() => stage.ownersOf(binding)).toEqual(['NamespacePolicy/ho-expiry-b']);
    await inTime(() => rivals.readiness('a')).toEqual(synced);
    expect(await rivals.uids()).toEqual(before);
  });

  test('a suspended provider keeps its objects until it is deleted', async () => {
    const rivals = new Rivals(stage, 'ho-suspended');
    await rivals.makeNamespace();
    await rivals.come('a', ofAnn);
    await inTime(() => rivals.owners()).toEqual(rivals.of('a'));
    const before = await rivals.uids();
    await rivals.come('a', { ...ofAnn, suspend: true });
    await inTime(() => rivals.readiness('a')).toEqual(['True Suspended', 'True Suspended']);
    await rivals.come('b', ofBob);
    await inTime(() => rivals.readiness('b')).toEqual(conflicts);
    expect(await rivals.owners()).toEqual(rivals.of('a'));
    expect(await rivals.contents()).toEqual(annsContents);
    await rivals.go('a');
    expect(await rivals.owners()).toEqual(rivals.of('b'));
    expect(await rivals.contents()).toEqual(bobsContents);
    expect(await rivals.uids()).toEqual(before);
  });

  test('a provider created suspended takes nothing until it is resumed', async () => {
    const rivals = new Rivals(stage, 'ho-comes-suspended');
    await rivals.makeNamespace();
    await rivals.come('b', ofBob);
    await inTime(() => rivals.owners()).toEqual(rivals.of('b'));
    const before = await rivals.uids();
    await rivals.come('a', { ...ofAnn, suspend: true });
    await inTime(() => rivals.readiness('a')).toEqual(['False Suspended', 'False Suspended']);
    expect((await rivals.failures('a'))[0]).toMatch(
      'ho-comes-suspended ConfigMap shared: ProvidedByAnother, NamespacePolicy/ho-comes-suspended-b already provides it, with different data; ',
    );
    await inTime(() => rivals.readiness('b')).toEqual(synced);
    await inTime(() => stage.namespaceCondition(rivals.namespace)).toBe('False ProvidedByAnother');
    // The current owner keeps the objects meanwhile.
    await stage.inEmergency('delete', 'configmap', 'shared', '-n', rivals.namespace);
    await inTime(() => rivals.owners()).toEqual(rivals.of('b'));
    await rivals.come('a', ofAnn);
    await inConflict(rivals, annsAndBobs);
    expect(await rivals.contents()).toEqual(annsContents);
    const [binding, , secret] = await rivals.uids();
    expect([binding, secret]).toEqual([before[0], before[2]]);
  });

  test('a policy that no longer loads keeps its objects until it is deleted', async () => {
    const rivals = new Rivals(stage, 'ho-invalid');
    await rivals.makeNamespace();
    await rivals.come('a', ofAnn);
    await inTime(() => rivals.owners()).toEqual(rivals.of('a'));
    const before = await rivals.uids();
    // The webhook would refuse this expression, and the schema cannot check it.
    const matchConditions = [{ name: 'broken', expression: 'namespaceObject.' }];
    await stage.applyInEmergency(policy('ho-invalid-a', { match: { matchConditions } }));
    await inTime(() => rivals.readiness('a')).toEqual(['False Invalid', 'True Synced']);
    await rivals.come('b', ofBob);
    await inTime(() => rivals.readiness('b')).toEqual(conflicts);
    expect((await rivals.failures('b'))[0]).toBe(
      'ho-invalid ConfigMap shared: OwnedByAnother, NamespacePolicy/ho-invalid-a owns it and is suspended or has an error',
    );
    expect(await rivals.owners()).toEqual(rivals.of('a'));
    expect(await rivals.contents()).toEqual(annsContents);
    await rivals.go('a');
    expect(await rivals.owners()).toEqual(rivals.of('b'));
    expect(await rivals.contents()).toEqual(bobsContents);
    expect(await rivals.uids()).toEqual(before);
  });
});
