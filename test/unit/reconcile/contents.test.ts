import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { bindingPolicy, quotaPolicy, team, teams, ours, settledWith } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();

const withPolicy = (spec: object, namespaces: readonly string[] = ['a']): Promise<Harness> =>
  settledWith(harness(), spec, namespaces);

describe('what a policy provides', () => {
  test('objects of a policy are created in old and new namespaces that match, and in no others', async () => {
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
  ])('a RoleBinding with %s is corrected', async (_what, patch) => {
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

  test('a deleted RoleBinding is created again, and no status is written', async () => {
    const h = await withPolicy(bindingPolicy());
    h.takeWrites();
    h.memory.delete(refTo('RoleBinding', 'devs', 'a'));
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject(ours);
    expect(h.takeWrites().map(({ verb, kind }) => `${verb} ${kind}`)).toEqual(['create RoleBinding']);
  });

  test('a RoleBinding is deleted and created again when its role changes', async () => {
    const h = await withPolicy(bindingPolicy());
    const before = h.get('RoleBinding', 'devs', 'a')?.metadata.uid;
    h.policy('p', bindingPolicy({}, { roleRef: { kind: 'ClusterRole', name: 'view' } }));
    await h.settle();
    expect(h.get('RoleBinding', 'devs', 'a')).toMatchObject({ roleRef: { name: 'view' } });
    expect(h.get('RoleBinding', 'devs', 'a')?.metadata.uid).not.toBe(before);
  });

  test.each<readonly [string, (h: Harness) => void]>([
    ['the namespace no longer matches', (h) => h.namespace('a', { tier: 'other' })],
    ['it is removed from the policy', (h) => h.policy('p', { match: teams, contents: { roleBindings: [] } })],
    ['the policy matches other namespaces', (h) => h.policy('p', bindingPolicy({ match: { names: ['b'] } }))],
    ['the policy is deleted', (h) => h.memory.delete(refTo('NamespacePolicy', 'p'))],
  ])('a RoleBinding is deleted when %s', async (_why, happen) => {
    const h = await withPolicy(bindingPolicy());
    happen(h);
    await h.settle();
    expect(h.memory.list('RoleBinding')).toEqual([]);
  });

  test('an object is skipped while the namespace lacks a label that its template reads', async () => {
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

  test('a namespace lacks a content until its exception ends', async () => {
    const until = (time: string) => ({
      exceptions: [
        { namespaces: ['a'], contents: ['RoleBinding/devs'], expiresAt: time, reason: 'SEC-1' },
        { namespaces: ['x-*'], contents: ['RoleBinding/devs'] },
      ],
    });
    const h = await withPolicy(bindingPolicy());
    h.namespace('b', team);
    await h.settle();
    h.policy('p', bindingPolicy(until('2026-11-21T13:00:00Z')));
    await h.settle();
    expect(h.memory.list('RoleBinding').map(({ metadata }) => metadata.namespace)).toEqual(['b']);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({
      desired: 1,
      skipped: 1,
      skippedContents: [{ namespace: 'a', name: 'devs', message: 'SEC-1, until 2026-11-21T13:00:00Z' }],
    });
    await h.settle(7_200_000);
    expect(h.memory.list('RoleBinding').map(({ metadata }) => metadata.namespace)).toEqual(['a', 'b']);
    expect(h.status('NamespacePolicy', 'p')).toMatchObject({ desired: 2, skipped: 0 });
  });

  test('a template that fails after its exception has ended deletes nothing', async () => {
    const h = harness();
    h.namespace('a', team, { squad: 'of-red' });
    const name = "of-${namespaceObject.metadata.annotations['squad'].split('-')[1]}";
    const exceptions = [
      { namespaces: ['a'], contents: [`RoleBinding/${name}`], expiresAt: '2026-11-21T11:00:00Z' },
    ];
    h.policy('p', bindingPolicy({ exceptions }, { name }));
    h.start();
    await h.settle();
    h.memory.change(refTo('Namespace', 'a'), { metadata: { annotations: { squad: 'red' } } });
    await h.settle();
    expect(h.memory.list('RoleBinding').map(({ metadata }) => metadata.name)).toEqual(['of-red']);
    expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ reason: 'RenderFailed' });
  });

  test('an object is left alone where the match of its policy has an error', async () => {
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

  test('an expired object is deleted, whatever maxDeletions says', async () => {
    const h = await withPolicy(bindingPolicy({ maxDeletions: 0 }, { expiresAfter: '8h' }));
    await h.settle(7.9 * 3_600_000);
    expect(h.memory.list('RoleBinding')).toHaveLength(1);
    await h.clock.advance(8.1 * 3_600_000);
    await h.settle();
    expect(h.memory.list('RoleBinding')).toEqual([]);
    expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'True' });
  });
});

describe('other kinds', () => {
  test('a field that the policy drops is removed, and fields of others stay', async () => {
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

  test('a kind that the install does not allow is reported, not created', async () => {
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

  test('an object that the API server normalizes is not written again and again', async () => {
    const h = harness();
    let dryRuns = 0;
    // The API server normalizes quantities like this.
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
    // A new status needs no dry run. A changed spec does.
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
