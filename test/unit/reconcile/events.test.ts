import type { BusyQueue } from '../../../src/base/recorded-event.ts';
import { describe, expect, test } from 'vitest';
import { bindingPolicy, settledWith, team, teams } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const names = Array.from({ length: 26 }, (_, index) => `team-${String(index).padStart(2, '0')}`);
const spec = {
  source: { namespace: 'reeve-shared', name: 'regcred' },
  targets: { names: ['team-*'] },
  maxDeletions: 100,
};

async function shared(): Promise<Harness> {
  const h = harness();
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 'regcred', { user: 'robot' });
  for (const name of names) h.namespace(name);
  h.start();
  await h.settle();
  h.share('s', spec);
  await h.settle();
  return h;
}

/** Returns the events about objects of the kind: `namespace/name: note`. */
function eventsOn(h: Harness, kind: string): readonly string[] {
  const found = h.told.events.filter(({ regarding }) => regarding.kind === kind);
  return found.map(({ regarding, note }) => `${regarding.namespace ?? ''}/${regarding.name}: ${note}`);
}

describe('the event TooManyDeletions', () => {
  const heldNotes = (h: Harness) =>
    h.told.events.filter(({ reason }) => reason === 'TooManyDeletions').map(({ note }) => note);

  test('the last event about held deletions has the number that is held in the end', async () => {
    const h = await settledWith(harness(), bindingPolicy({ maxDeletions: 3 }), names);
    for (const name of names.slice(0, 8)) h.namespace(name, {});
    await h.settle(10);
    for (const name of names.slice(8, 20)) h.namespace(name, {});
    await h.settle(5000);
    const held = h.memory.list('RoleBinding').length - 6;
    expect(heldNotes(h).at(-1)).toMatch(new RegExp(`^${held} objects would be deleted`));
    const known = heldNotes(h).length;
    for (const name of names.slice(20, 22)) h.namespace(name, {});
    await h.settle(5000);
    expect(heldNotes(h).slice(known)).toEqual([
      expect.stringMatching(new RegExp(`^${held + 2} objects would be deleted`)),
    ]);
    await h.settle(120_000);
    expect(heldNotes(h)).toHaveLength(known + 1);
  });
});

const repairing = (labels: object, annotations: object = {}) => ({
  match: teams,
  existing: 'Repair',
  namespaces: { defaults: { labels, annotations } },
});

test('each repaired namespace gets an event with the added keys, and the policy gets one for all', async () => {
  const h = harness();
  for (const name of ['a', 'b']) h.namespace(name, team);
  h.namespace('c', { ...team, zone: 'north' }, { contact: 'them' });
  h.policy('p', repairing({ zone: 'south' }, { contact: 'us' }));
  h.policy('q', repairing({ env: 'dev', zone: 'west' }));
  h.start();
  await h.settle();
  expect(eventsOn(h, 'Namespace').toSorted()).toEqual([
    'a/a: Added label env for NamespacePolicy/q',
    'a/a: Added label zone, annotation contact for NamespacePolicy/p',
    'b/b: Added label env for NamespacePolicy/q',
    'b/b: Added label zone, annotation contact for NamespacePolicy/p',
    'c/c: Added label env for NamespacePolicy/q',
  ]);
  expect(eventsOn(h, 'NamespacePolicy').toSorted()).toEqual([
    '/p: Added 2 labels, 2 annotations in 2 namespaces',
    '/q: Added 3 labels in 3 namespaces',
  ]);
  await h.settle(600_000);
  expect(h.told.events).toHaveLength(7);
});

describe('the events of a share', () => {
  test('a share into 26 namespaces records one event about itself, and one in each namespace', async () => {
    const h = await shared();
    expect(eventsOn(h, 'SecretShare')).toEqual(['/s: Created 26 Secrets in 26 namespaces']);
    expect(eventsOn(h, 'Namespace')).toEqual(
      names.map((name) => `${name}/${name}: Created Secret regcred for SecretShare/s`),
    );
    expect(h.told.events).toHaveLength(27);
  });

  test('an initial sync of new copies records one event about the share', async () => {
    const h = harness();
    h.namespace('reeve-shared');
    h.secret('reeve-shared', 'regcred', { user: 'robot' });
    for (const name of names) h.namespace(name);
    h.share('s', spec);
    h.start();
    await h.settle();
    expect(eventsOn(h, 'SecretShare')).toEqual(['/s: Created 26 Secrets in 26 namespaces']);
  });

  test('a namespace that loses its copies gets an event, and so does a share that is deleted', async () => {
    const h = await shared();
    h.told.events.length = 0;
    h.memory.delete(refTo('SecretShare', 's'));
    await h.settle();
    expect(h.get('SecretShare', 's')).toBeUndefined();
    expect(eventsOn(h, 'SecretShare')).toEqual(['/s: Deleted 26 Secrets in 26 namespaces']);
    expect(eventsOn(h, 'Namespace')[0]).toBe('team-00/team-00: Deleted Secret regcred for SecretShare/s');
  });

  test('a namespace gets an event for the object that it could not get', async () => {
    const h = harness();
    h.namespace('reeve-shared');
    h.secret('reeve-shared', 'regcred', { user: 'robot' });
    for (const name of ['team-a', 'team-b']) {
      h.namespace(name);
      h.secret(name, 'regcred', { user: 'own' });
    }
    h.share('s', spec);
    h.start();
    await h.settle();
    expect(eventsOn(h, 'SecretShare')).toEqual([
      expect.stringMatching(/^\/s: 2 Secrets in 2 namespaces; first Secret regcred in namespace team-a: /),
    ]);
    expect(eventsOn(h, 'Namespace')).toEqual([
      expect.stringMatching(/^team-a\/team-a: Secret regcred of SecretShare\/s: /),
      expect.stringMatching(/^team-b\/team-b: Secret regcred of SecretShare\/s: /),
    ]);
    expect(eventsOn(h, 'Secret')).toHaveLength(2);
  });

  test('a changed copy gets the event itself, because its namespace gains and loses nothing', async () => {
    const h = await shared();
    h.told.events.length = 0;
    h.secret('reeve-shared', 'regcred', { user: 'other' });
    await h.settle();
    expect(eventsOn(h, 'SecretShare')).toEqual(['/s: Updated 26 Secrets in 26 namespaces']);
    expect(eventsOn(h, 'Secret')[0]).toBe('team-00/regcred: Updated for SecretShare/s');
    expect(eventsOn(h, 'Namespace')).toEqual([]);
  });

  test('what happened before the process ends is recorded', async () => {
    const h = await shared();
    h.told.events.length = 0;
    h.memory.delete(refTo('Secret', 'regcred', 'team-07'));
    await h.quiet();
    expect(eventsOn(h, 'SecretShare')).toEqual([]);
    await h.stop();
    expect(eventsOn(h, 'SecretShare')).toEqual(['/s: Created Secret regcred in namespace team-07']);
  });
});

test('events wait while namespaces wait for a place', async () => {
  let namespaces: BusyQueue | undefined;
  const seen: (boolean | undefined)[] = [];
  const h = harness({
    concurrency: 1,
    events: { record: () => undefined, yieldTo: (given) => (namespaces = given) },
    traced: (queue, handle) => async (key, attempt) => {
      if (queue === 'namespace') seen.push(namespaces?.isBusy);
      return await handle(key, attempt);
    },
  });
  for (const name of ['a', 'b', 'c']) h.namespace(name);
  h.start();
  await h.settle();
  expect([seen.slice(0, 3), namespaces?.isBusy]).toEqual([[true, true, false], false]);
});
