// The limit on deletions by one change: Reeve checks it before the change is stored, and again before it deletes anything.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownMember } from '../../src/base/json.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { kubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers, sharedCluster } from '../support/shared-cluster.ts';
import { runCommand } from './support/command.ts';
import { inTime } from './support/in-time.ts';
import { namespaceObject, roleBinding, source, type WrittenObject } from './support/objects.ts';
import { provider, providerSource, type Provider } from './support/provider.ts';
import { Stage } from './support/stage.ts';

const confirmation = 'reeve.dev/confirm-deletions';

describeControllers('the fuse', () => {
  const stage = new Stage(sharedCluster(), 'ho-fu-');
  let webhook: Reeve;
  let reconciler: Reeve;

  beforeAll(async () => {
    await installReeve(stage.cluster);
    webhook = await startReeve(stage.cluster, { role: 'webhook' });
    reconciler = await startReeve(stage.cluster, { role: 'reconciler' });
    await stage.apply(source(providerSource, { user: 'ann' }));
  });
  afterAll(async () => {
    await stage.cleanUp();
    await stage.remove({ kind: 'Secret', name: providerSource, namespace: 'reeve-shared' });
    await reconciler.stop();
    await webhook.stop();
  });

  async function makeNamespaces(group: string, count: number): Promise<readonly string[]> {
    const names = Array.from({ length: count }, (_, index) => `ho-fu-${group}-${index + 1}`);
    await stage.apply(...names.map((name) => namespaceObject(name, { fuse: group })));
    return names;
  }

  const labelled = (group: string): object => ({ namespaceSelector: { matchLabels: { fuse: group } } });

  async function leave(...names: readonly string[]): Promise<void> {
    await stage.kubectl('label', 'namespace', ...names, 'fuse-');
  }

  /** Returns the namespaces in which the provider owns its object. */
  async function holders(
    { ref, objectIn }: Provider,
    namespaces: readonly string[],
  ): Promise<readonly string[]> {
    const owners = await stage.ownersOf(...namespaces.map(objectIn));
    return namespaces.filter((_, index) => owners[index] === `${ref.kind}/${ref.name}`);
  }

  async function reaches(it: Provider, namespaces: readonly string[]): Promise<void> {
    await inTime(() => holders(it, namespaces)).toEqual(namespaces);
    await inTime(() => stage.condition(it.ref)).toBe('True Synced');
  }

  async function refusal(written: WrittenObject): Promise<string> {
    const { code, stderr } = await stage.tryApply([written]);
    expect(code, stderr).toBe(1);
    return stderr;
  }

  /** Waits until the webhook says this of the write. Its process hears of a status later than the test reads it. */
  async function isForeseen(written: WrittenObject, said: string): Promise<void> {
    await inTime(async () => (await stage.dryRun(written)).stderr).toContain(said);
  }

  describe.each([
    { kind: 'NamespacePolicy', resource: 'namespacepolicies' },
    { kind: 'SecretShare', resource: 'secretshares' },
  ] as const)('the fuse asks the author of a $kind before it is written', ({ kind, resource }) => {
    const group = kind.toLowerCase();
    const name = `ho-fu-${group}`;
    const it = provider(kind, name);
    const id = `${kind}/${name}`;
    const all = [1, 2, 3, 4, 5, 6].map((number) => `${name}-${number}`);
    const [first = '', ...others] = all;
    const last = others.slice(-1);

    test('the webhook reports the namespaces that a change now reaches', async () => {
      await makeNamespaces(group, all.length);
      // The webhook learns about the provider a moment later.
      await inTime(async () => (await stage.dryRun(it.write(labelled(group)))).stderr).toBe(
        `Warning: ${id} now reaches 6 namespaces: ${all.slice(0, 5).join(', ')} and 1 more\n`,
      );
      expect(await stage.apply(it.write({ names: all.slice(0, 3) }))).toBe(
        `Warning: ${id} now reaches 3 namespaces: ${all.slice(0, 3).join(', ')}\n`,
      );
      expect(await stage.apply(it.write(labelled(group)))).toBe(
        `Warning: ${id} now reaches 3 namespaces: ${all.slice(3).join(', ')}\n`,
      );
      await reaches(it, all);
    });

    test('the webhook refuses a change that deletes too much, whatever limit the new version has', async () => {
      const names = { names: [first] };
      const impact = `this write would delete 5 objects in 5 namespaces (${others.join(', ')}), and spec.maxDeletions is 2`;
      const command = `kubectl annotate --local -f FILE --overwrite ${confirmation}=5 `;
      const said = `${kind} ${name} is refused: ${impact}. To confirm, set the annotation in the same write: ${command}`;
      await isForeseen(it.write(names), said);
      expect(await refusal(it.write(names))).toContain(said);
      expect(await refusal(it.write(names, { maxDeletions: 100 }))).toContain(said);
      expect(await refusal(it.write(names, {}, { [confirmation]: '4' }))).toContain(said);
      await reaches(it, all);
    });

    test('the webhook warns of deletions within the limit', async () => {
      const fewer = it.write({ ...labelled(group), excludeNames: last });
      const deletes = `Warning: ${id} deletes 1 object in namespace: ${last.join()}\n`;
      await isForeseen(fewer, deletes);
      expect(await stage.apply(fewer)).toBe(
        `Warning: ${id} no longer reaches 1 namespace: ${last.join()}\n${deletes}`,
      );
      await inTime(() => holders(it, all)).toEqual(all.slice(0, -1));
      // The next warning gets its number from the status.
      await inTime(() => stage.condition(it.ref)).toBe('True Synced');
    });

    test('a confirmation in a write counts for that write only', async () => {
      const confirmed = { [confirmation]: '5' };
      const gone = others.slice(0, -1).join(', ');
      const one = it.write({ names: [first] }, {}, confirmed);
      const deletes = `Warning: ${id} deletes 4 objects in namespaces: ${gone}\n`;
      await isForeseen(one, deletes);
      expect(await stage.apply(one)).toContain(deletes);
      await inTime(() => holders(it, all)).toEqual([first]);
      await stage.apply(it.write(labelled(group), {}, confirmed));
      await reaches(it, all);
      const command = `kubectl annotate --local -f FILE --overwrite ${confirmation}=6 `;
      const said = `To confirm, set the annotation in the same write: ${command}`;
      await isForeseen(one, said);
      expect(await refusal(one)).toContain(said);
    });

    test('a DELETE counts the confirmation on the object', async () => {
      await stage.apply(it.write(labelled(group)));
      const { code, stderr } = await kubectl(['delete', resource, name], stage.administrator);
      expect(code).toBe(1);
      const command = `kubectl annotate ${resource}.reeve.dev ${name} --overwrite ${confirmation}=6`;
      expect(stderr).toContain(`spec.maxDeletions is 2. To confirm, first run: ${command}`);
      await inTime(() => stage.condition(it.ref)).toBe('True Synced');
      const confirmed = await kubectl(command.split(' ').slice(1), stage.administrator);
      expect(confirmed.stderr).toContain(
        `Warning: ${id} holds no deletions now, so ${confirmation}=6 counts only when ${id} itself is deleted; `,
      );
      await stage.remove(it.ref);
      expect(await stage.ownersOf(...all.map(it.objectIn))).toEqual(all.map(() => 'absent'));
    });
  });

  const both = (name: string): readonly Provider[] => [
    provider('NamespacePolicy', name),
    provider('SecretShare', name),
  ];

  /** Makes changes while Reeve is down, so that Reeve notices all of them at once. */
  async function meanwhile(act: () => Promise<void>): Promise<void> {
    await reconciler.stop();
    await act();
    reconciler = await startReeve(stage.cluster, { role: 'reconciler' });
  }

  /** Runs the command with which the status tells people to confirm the deletion. */
  async function confirm({ ref }: Provider): Promise<string> {
    const { status } = await stage.mustGet(ref);
    const message = status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
    const [what = '', command = ''] = message.split('; to confirm: kubectl ');
    await stage.kubectl(...command.split(' '));
    return what;
  }

  async function isHeld({ ref }: Provider): Promise<void> {
    await inTime(() => stage.condition(ref, 'Stalled')).toBe('True TooManyDeletions');
    expect(await stage.condition(ref)).toBe('False TooManyDeletions');
  }

  test('nothing is deleted when too many namespaces leave, until the number is confirmed', async () => {
    const all = await makeNamespaces('left', 4);
    const [first = '', ...others] = all;
    const owners = both('ho-fu-left');
    await stage.apply(...owners.map((it) => it.write(labelled('left'))));
    for (const it of owners) await reaches(it, all);
    for (const [number, earlier] of [
      ['3', ''],
      ['03', ', after 3 in the ten minutes before'],
    ]) {
      await meanwhile(async () => leave(...others));
      for (const it of owners) {
        await isHeld(it);
        expect(await holders(it, all)).toEqual(all);
        expect(await confirm(it)).toBe(`3 objects would be deleted${earlier}, and maxDeletions is 2`);
        await inTime(() => holders(it, all)).toEqual([first]);
        await inTime(() => stage.condition(it.ref)).toBe('True Synced');
        // A used confirmation is no longer valid: the next deletion requires another text.
        expect((await stage.mustGet(it.ref)).status?.confirmationUsed).toBe(number);
      }
      await makeNamespaces('left', 4);
      for (const it of owners) await reaches(it, all);
    }
  });

  test('deletions within ten minutes count together', async () => {
    const all = await makeNamespaces('one-by-one', 4);
    const [first = '', second = '', third = ''] = all;
    const it = provider('NamespacePolicy', 'ho-fu-one-by-one');
    await stage.apply(it.write(labelled('one-by-one')));
    await reaches(it, all);
    await leave(first);
    await inTime(() => holders(it, all)).toEqual(all.slice(1));
    await leave(second);
    await inTime(() => holders(it, all)).toEqual(all.slice(2));
    await leave(third);
    await isHeld(it);
    expect(await holders(it, all)).toEqual(all.slice(2));
    expect(await confirm(it)).toBe(
      '1 object would be deleted, after 2 in the ten minutes before, and maxDeletions is 2',
    );
    await inTime(() => holders(it, all)).toEqual(all.slice(3));
  });

  describe('one command that takes the label off 38 namespaces', () => {
    const names = Array.from({ length: 38 }, (_, index) => `ho-fu-fleet-${index + 1}`);
    const it = provider('NamespacePolicy', 'ho-fu-fleet');
    const id = 'NamespacePolicy/ho-fu-fleet';
    const admin = `--kubeconfig=${stage.cluster.kubeconfig}`;

    const leaveAtOnce = async (): Promise<void> => {
      await stage.kubectl('label', 'namespace', '-l', 'fuse=fleet', 'fuse-');
    };
    /** Every place that names the number. */
    const isHeldEverywhere = async (): Promise<void> => {
      await isHeld(it);
      const { status } = await stage.mustGet(it.ref);
      expect(ownMember(status, 'held')).toEqual({ count: 38, since: expect.any(String) as string });
      const says = '38 objects would be deleted, and maxDeletions is 20';
      expect(status?.conditions?.find(({ type }) => type === 'Stalled')?.message).toContain(says);
      const sample = 'reeve_provider_held{kind="NamespacePolicy",name="ho-fu-fleet"}';
      await inTime(() => reconciler.metric(sample)).toBe(38);
      const question = await runCommand(['confirm', 'policy/ho-fu-fleet', admin]);
      expect(question.stdout).toContain(
        `${id}: 38 objects in 38 namespaces would be deleted, and maxDeletions is 20\n`,
      );
      const report = JSON.parse((await runCommand(['report', '-o', 'json', admin])).stdout) as {
        readonly entries: readonly { readonly section: string; readonly policy: string }[];
      };
      const held = report.entries.filter(({ section, policy }) => section === 'held' && policy === id);
      expect(held).toHaveLength(38);
      expect(await holders(it, names)).toEqual(names);
    };

    test('nothing is deleted when 38 namespaces lose their label at once, and every output says 38, also after a restart', async () => {
      await makeNamespaces('fleet', names.length);
      await stage.apply(it.write(labelled('fleet'), { maxDeletions: 20 }));
      await reaches(it, names);
      await leaveAtOnce();
      await isHeldEverywhere();
      await meanwhile(() => Promise.resolve());
      await isHeldEverywhere();
      expect(await holders(it, names)).toEqual(names);
    });

    test('nothing is deleted when 38 namespaces get their label back', async () => {
      await makeNamespaces('fleet', names.length);
      await inTime(() => stage.condition(it.ref)).toBe('True Synced');
      expect((await stage.mustGet(it.ref)).status).not.toHaveProperty('held');
      expect(await holders(it, names)).toEqual(names);
      for (const name of names.slice(0, 2)) expect(await stage.deletionsIn(name)).toEqual([]);
    });

    test('all 38 objects are deleted once the number is confirmed', async () => {
      await leaveAtOnce();
      await isHeld(it);
      const { code, stderr } = await runCommand(['confirm', 'policy/ho-fu-fleet', '--yes', admin]);
      expect(code, stderr).toBe(0);
      await inTime(() => holders(it, names)).toEqual([]);
      await inTime(() => stage.condition(it.ref)).toBe('True MatchesNothing');
      expect((await stage.mustGet(it.ref)).status).not.toHaveProperty('held');
    });
  });

  test('a policy that is applied and deleted four times within a minute deletes its objects each time', async () => {
    const all = await makeNamespaces('again', 4);
    const owners = both('ho-fu-again').map((it) => ({ ...it, limit: { maxDeletions: 6 } }));
    for (const round of [1, 2, 3, 4]) {
      await stage.apply(...owners.map((it) => it.write(labelled('again'), it.limit)));
      for (const it of owners) await reaches(it, all);
      for (const { ref, objectIn } of owners) {
        const deletion = ['delete', ref.kind, ref.name];
        const said = `${ref.kind}/${ref.name} deletes 4 objects in namespaces: `;
        const foreseen = [...deletion, '--dry-run=server'];
        await inTime(async () => (await kubectl(foreseen, stage.administrator)).stderr).toContain(said);
        expect((await kubectl(deletion, stage.administrator)).stderr).toContain(said);
        expect(await stage.ownersOf(...all.map(objectIn)), `round ${round}`).toEqual(all.map(() => 'absent'));
      }
    }
  });

  test('what was deleted in the last ten minutes counts for the next change of the spec', async () => {
    const all = await makeNamespaces('to-and-fro', 4);
    const [first = '', ...others] = all;
    const it = provider('NamespacePolicy', 'ho-fu-to-and-fro');
    const limit = { maxDeletions: 4 };
    const one = it.write({ names: [first] }, limit);
    await stage.apply(it.write(labelled('to-and-fro'), limit));
    await reaches(it, all);
    await isForeseen(one, 'deletes 3 objects in namespaces: ');
    await stage.apply(one);
    await inTime(() => holders(it, all)).toEqual([first]);
    await stage.apply(it.write(labelled('to-and-fro'), limit));
    await reaches(it, all);
    const impact = `this write would delete 3 objects in 3 namespaces (${others.join(', ')}), after 3 in the ten minutes before`;
    await isForeseen(one, `${impact}, and spec.maxDeletions is 4. To confirm, `);
    expect(await refusal(one)).toContain(impact);
    await stage.apply(it.write({ names: [first] }, limit, { [confirmation]: '3' }));
    await inTime(() => holders(it, all)).toEqual([first]);
    await reaches(it, [first]);
  });

  test('expired objects are deleted, however many there are', async () => {
    const all = await makeNamespaces('expiry', 3);
    const it = provider('NamespacePolicy', 'ho-fu-expiry');
    const limit = { maxDeletions: 0 };
    await stage.apply(it.write(labelled('expiry'), limit));
    await reaches(it, all);
    const binding = roleBinding('ho-fu-expiry', 'readers');
    // On a slow machine the time has passed when the write arrives, and the fuse refuses it. The test retries with a later time.
    const expiring = async (seconds: number): Promise<boolean> => {
      const expiresAt = new Date(Date.now() + seconds * 1000).toISOString();
      const contents = { roleBindings: [{ ...binding, expiresAt }] };
      return (await stage.tryApply([it.write(labelled('expiry'), { ...limit, contents })])).code === 0;
    };
    expect((await expiring(1)) || (await expiring(8)) || (await expiring(64))).toBe(true);
    await inTime(() => holders(it, all)).toEqual([]);
    await inTime(() => stage.condition(it.ref)).toBe('True Synced');
    expect(await stage.condition(it.ref, 'Stalled')).toBe('there is no condition Stalled');
  });

  test('a policy deleted past the webhook without confirmation leaves its objects behind', async () => {
    const all = await makeNamespaces('past', 3);
    const owners = both('ho-fu-past');
    await stage.apply(...owners.map((it) => it.write(labelled('past'))));
    for (const it of owners) await reaches(it, all);
    for (const { ref, objectIn } of owners) {
      await stage.inEmergency('delete', ref.kind, ref.name, '--timeout=60s');
      expect(await stage.ownersOf(...all.map(objectIn))).toEqual(all.map(() => 'nobody'));
    }
    for (const name of all) expect(await stage.deletionsIn(name)).toEqual([]);
  });
});
