import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/kube-object.ts';
import { bindingPolicy, quotaPolicy, team, teams, ours, settledWith } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

const withPolicy = (spec: object, namespaces: readonly string[] = ['a']): Promise<Harness> =>
  settledWith(harness(), spec, namespaces);

describe('what a policy provides', () => {
  test('is made in namespaces that were there before and in new ones, and in no others', async () => {
    const h = await withPolicy(bindingPolicy({}, { name: 'ad-${namespaceObject.metadata.name}' }));
    h.namespace('b', team);
    h.namespace('other');
    h.namespace('kube-system', team);
    await h.settle();
    expect(h.memory.list('RoleBinding').map(({ metadata }) => metadata.name)).toEqual(['ad-a', 'ad-b']);
    expect(h.get('RoleBinding', 'ad-b', 'b')).toMatchObject({
      ...ours,
      roleRef: { kind: 'ClusterRole', name: 'edit' },
    });
  });

  test.each<readonly [string, object]>([
    ['other subjects', { subjects: [{ kind: 'User', name: 'eve' }] }],
    ['no subjects', { subjects: null }],
    [
      'a further subject',
      {
        subjects: [
          { kind: 'Group', name: 'devs' },
          { kind: 'User', name: 'eve' },
        ],
      },
    ],
    ['no mark', { metadata: { annotations: { 'reeve.dev/owner': 'NamespacePolicy/q' } } }],
  ])('is put right when somebody gives it %s', async (_what, patch) => {
    const h = await withPolicy(bindingPolicy());
    h.memory.change(refTo('RoleBinding', 'devs', 'a'), patch as Record<string, unknown>);
    h.takeWrites();
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({
      ...ours,
      subjects: [{ kind: 'Group', name: 'devs' }],
    });
    expect(h.get('RoleBinding', 'devs', 'a')?.['subjects']).toHaveLength(1);
    expect(h.takeWrites()).toHaveLength(1);
  });

  test('is made again when somebody deletes it, without a word in the status', async () => {
    const h = await withPolicy(bindingPolicy());
    h.takeWrites();
    h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject(ours);
    expect(h.takeWrites().map(({ verb, kind }) => `${verb} ${kind}`)).toEqual(['create RoleBinding']);
  });

  test('is made anew when its role changes, which cannot be changed', async () => {
    const h = await withPolicy(bindingPolicy());
    const before = h.get('RoleBinding', 'devs', 'a')?.metadata.uid;
    h.policy('p', bindingPolicy({}, { roleRef: { kind: 'ClusterRole', name: 'view' } }));
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({ roleRef: { name: 'view' } });
    expect(h.get('RoleBinding', 'devs', 'a')?.metadata.uid).not.toBe(before);
  });

  test.each<readonly [string, (h: Harness) => void]>([
    ['the namespace matches no more', (h) => h.namespace('a', { tier: 'other' })],
    ['it leaves the policy', (h) => h.policy('p', { match: teams, contents: { roleBindings: [] } })],
    ['the policy matches other namespaces', (h) => h.policy('p', bindingPolicy({ match: { names: ['b'] } }))],
    ['the policy goes', (h) => h.memory.delete(refTo('NamespacePolicy', 'p'))],
  ])('goes when %s', async (_why, happen) => {
    const h = await withPolicy(bindingPolicy());
    happen(h);
    await h.settle();
    expect(h.memory.list('RoleBinding')).toEqual([]);
  });

  test('is not desired where the namespace lacks what a template reads, and comes when it has it', async () => {
    const h = await withPolicy(bindingPolicy({}, { name: "of-${namespaceObject.metadata.labels['squad']}" }));
    expect(h.memory.list('RoleBinding')).toEqual([]);
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({
      status: 'True',
      reason: 'NothingProvided',
    });
    h.namespace('a', { ...team, squad: 'red' });
    await h.settle();
    expect(h.memory.list('RoleBinding').map(({ metadata }) => metadata.name)).toEqual(['of-red']);
    h.namespace('a', { ...team, squad: 'blue' });
    await h.settle();
    expect(h.memory.list('RoleBinding').map(({ metadata }) => metadata.name)).toEqual(['of-blue']);
  });

  test('stays as it is where the match of the policy has an error', async () => {
    const conditions = [{ name: 'c', expression: "namespaceObject.metadata.annotations['x'] == 'y'" }];
    const h = harness();
    h.namespace('a', team, { x: 'y' });
    h.policy('p', bindingPolicy({ match: { ...teams, matchConditions: conditions } }));
    h.start();
    await h.settle();
    h.memory.change(refTo('Namespace', 'a'), { metadata: { annotations: { x: null } } });
    await h.settle();
    expect(h.memory.list('RoleBinding')).toHaveLength(1);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      matched: 0,
      failed: 1,
      failures: [{ namespace: 'a', reason: 'MatchFailed' }],
    });
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({
      status: 'False',
      reason: 'MatchFailed',
    });
  });

  test('goes when its time is over, whatever maxDeletions says', async () => {
    const h = await withPolicy(bindingPolicy({ maxDeletions: 0 }, { expiresAfter: '8h' }));
    await h.settle(7.9 * 3_600_000);
    expect(h.memory.list('RoleBinding')).toHaveLength(1);
    await h.virtual.advance(8.1 * 3_600_000);
    await h.settle();
    expect(h.memory.list('RoleBinding')).toEqual([]);
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
  });
});

describe('other kinds', () => {
  test('lose a field that the policy drops, and keep those of others', async () => {
    const h = await withPolicy(quotaPolicy({ hard: { pods: '5', secrets: '9' } }));
    h.memory.change(refTo('ResourceQuota', 'team', 'a'), { metadata: { labels: { theirs: 'x' } } });
    h.policy('p', quotaPolicy({ hard: { pods: '5' } }));
    await h.settle();
    expect(h.get('ResourceQuota', 'team', 'a')).toMatchObject({
      spec: { hard: { pods: '5' } },
      metadata: { labels: { theirs: 'x' } },
    });
    expect(h.get('ResourceQuota', 'team', 'a')?.['spec']).toEqual({ hard: { pods: '5' } });
  });

  test('that the install does not allow are reported, not made', async () => {
    const h = await withPolicy({
      match: teams,
      contents: { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }] },
    });
    expect(h.memory.list('ConfigMap')).toEqual([]);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      failed: 1,
      failures: [{ kind: 'ConfigMap', reason: 'KindNotAllowed' }],
    });
  });

  test('that the server puts into another form are not written for ever', async () => {
    const h = harness();
    let dryRuns = 0;
    // As the API server does with quantities.
    h.memory.normalized = (object) =>
      JSON.parse(JSON.stringify(object).replaceAll('"1000m"', '"1"')) as KubeObject;
    h.memory.after = ({ dryRun }) => {
      if (dryRun === true) dryRuns += 1;
    };
    h.namespace('a', team);
    h.policy('p', quotaPolicy({ hard: { cpu: '1000m' } }));
    h.start();
    await h.settle();
    await h.stop();
    h.takeWrites();
    h.start();
    await h.settle();
    expect([h.takeWrites(), dryRuns]).toEqual([[], 1]);
    // What its own controller reports is no reason to ask again, what somebody changes is.
    h.memory.put({
      ...h.get('ResourceQuota', 'team', 'a'),
      metadata: {
        name: 'team',
        namespace: 'a',
        ...h.get('ResourceQuota', 'team', 'a')?.metadata,
        labels: { ...h.get('ResourceQuota', 'team', 'a')?.metadata.labels, x: 'y' },
      },
    });
    await h.settle();
    expect([h.takeWrites(), dryRuns]).toEqual([[], 2]);
    h.memory.change(refTo('ResourceQuota', 'team', 'a'), { spec: { hard: { cpu: '2' } } });
    await h.settle();
    expect(h.get('ResourceQuota', 'team', 'a')).toMatchObject({ spec: { hard: { cpu: '1' } } });
  });
});
