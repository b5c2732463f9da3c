import { expect, test } from 'vitest';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const key = 'istio.io/rev';
const install = { enforcedKeys: [key] };
const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const mesh = (waves: object, fields: object = {}, value = '1-22') => ({
  match: { names: ['*'] },
  existing: 'Repair',
  namespaces: { enforced: { labels: { [key]: value }, waves } },
  ...fields,
});

type H = ReturnType<typeof harness>;

const waiting = (h: H, value = '1-22'): readonly string[] =>
  names.filter((name) => h.get('Namespace', name)?.metadata.labels?.[key] !== value);
const waves = (h: H): unknown => h.status('NamespacePolicy', 'p')['waves'];

/** Reeve looks again every 15 seconds while waves are underway. */
async function pass(h: H, minutes: number): Promise<void> {
  for (let looks = 0; looks < minutes * 4; looks += 1) {
    await h.clock.advance(15_000);
    await h.settle();
  }
}

function aMesh(spec: object): H {
  const h = harness({ install });
  for (const name of names) h.namespace(name, { [key]: '1-20' });
  h.policy('p', spec);
  h.start();
  return h;
}

test('each wave moves a third of the namespaces, and the next one begins after the pause', async () => {
  const h = aMesh(mesh({ percent: 33 }));
  await h.settle();
  expect(waiting(h)).toHaveLength(4);
  expect(waves(h)).toMatchObject({ state: 'Pausing', wave: 1, moved: 2, waiting: 4 });
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({
    status: 'True',
    message: expect.stringContaining('wave 1: 2 of 6 namespaces have the enforced values') as unknown,
  });
  await pass(h, 9);
  expect(waiting(h)).toHaveLength(4);
  await pass(h, 2);
  expect(waiting(h)).toHaveLength(2);
  await pass(h, 11);
  expect(waiting(h)).toEqual([]);
  expect(waves(h)).toMatchObject({ state: 'Done', wave: 3, moved: 6, waiting: 0 });
});

test('the namespaces of the selector come first, and a namespace that waits is neither failed nor not ready', async () => {
  const h = aMesh(mesh({ namespaceSelector: { matchLabels: { canary: 'true' } } }));
  h.namespace('c', { [key]: '1-20', canary: 'true' });
  await h.settle();
  expect(waiting(h)).toEqual(['a', 'b', 'd', 'e', 'f']);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failed: 0, conflicts: 0 });
  expect(h.condition('Namespace', 'a', 'reeve.dev/Ready')).toMatchObject({ status: 'True' });
  await pass(h, 11);
  expect(waiting(h)).toEqual([]);
});

test('a restart in the pause neither shortens the pause nor moves another namespace', async () => {
  const h = aMesh(mesh({ percent: 33 }));
  await h.settle();
  const before = waiting(h);
  await pass(h, 5);
  await h.stop();
  h.start();
  await pass(h, 4);
  expect(waiting(h)).toEqual(before);
  await pass(h, 2);
  expect(waiting(h)).toHaveLength(2);
});

const canary = { namespaceSelector: { matchLabels: { canary: 'true' } } };

async function afterTheFirstWave(): Promise<H> {
  const h = aMesh(mesh(canary));
  h.namespace('c', { [key]: '1-20', canary: 'true' });
  await h.settle();
  return h;
}

test('a policy that is suspended in the pause and resumed moves no namespace before the pause is over', async () => {
  const h = await afterTheFirstWave();
  h.policy('p', mesh(canary, { suspend: true }));
  await pass(h, 1);
  h.policy('p', mesh(canary));
  await pass(h, 5);
  expect(waiting(h)).toHaveLength(5);
  await pass(h, 6);
  expect(waiting(h)).toEqual([]);
});

test('a policy that leaves a namespace out in the pause moves no other namespace before another pause is over', async () => {
  const h = await afterTheFirstWave();
  h.policy('p', mesh(canary, { match: { names: ['*'], excludeNames: ['f'] } }));
  await pass(h, 9);
  expect(waiting(h)).toHaveLength(5);
  await pass(h, 2);
  expect(waiting(h)).toEqual(['f']);
});

test('the waves stop below the share of ready namespaces, and go on once it is reached', async () => {
  const h = aMesh(mesh({ percent: 33 }));
  await h.settle();
  const before = waiting(h);
  const moved = names.find((name) => !before.includes(name)) ?? '';
  h.policy('q', {
    match: { names: [moved] },
    contents: {
      resources: [{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: {} } }],
    },
  });
  h.memory.put({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: moved } });
  await pass(h, 20);
  expect(waiting(h)).toEqual(before);
  expect(waves(h)).toMatchObject({ state: 'Stopped', notReady: [moved] });
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ status: 'False', reason: 'WavesStopped' });
  h.memory.delete({ apiVersion: 'v1', kind: 'ResourceQuota', name: 'q', namespace: moved });
  await pass(h, 20);
  expect(waiting(h)).toHaveLength(2);
});

test('a key that the install does not name hides no namespace from the share of ready ones', async () => {
  const labels = { [key]: '1-22', other: 'x' };
  const h = aMesh(mesh({}, { namespaces: { enforced: { labels, waves: { percent: 33 } } } }));
  for (const name of names) h.namespace(name, { [key]: '1-20', other: 'theirs' });
  await h.settle();
  expect(waiting(h)).toHaveLength(4);
  expect(h.status('NamespacePolicy', 'p')['waves']).toMatchObject({ moved: 2, waiting: 4 });
});

test('another value begins with the first wave, and no namespace gets it before', async () => {
  const h = aMesh(mesh({ percent: 50 }));
  await pass(h, 30);
  expect(waves(h)).toMatchObject({ state: 'Done' });
  h.policy('p', mesh({ percent: 50 }, {}, '1-23'));
  await h.settle();
  expect(waiting(h, '1-23')).toHaveLength(3);
  expect(waves(h)).toMatchObject({ state: 'Pausing', wave: 1 });
});

test('after the last wave, a namespace that loses its value gets it back at once', async () => {
  const h = aMesh(mesh({ percent: 100 }));
  await pass(h, 1);
  h.namespace('a', { [key]: '1-20' });
  await h.settle();
  expect(waiting(h)).toEqual([]);
});

test('namespaces that fall behind together after the last wave get the value in waves', async () => {
  const h = aMesh(mesh({ percent: 50 }));
  h.policy('a', mesh({ percent: 100 }, {}, '1-20'));
  await pass(h, 2);
  expect(waiting(h)).toEqual(names);
  expect(waves(h)).toMatchObject({ state: 'Done', moved: 0, waiting: 0 });
  h.memory.delete({ apiVersion: 'reeve.dev/v1alpha1', kind: 'NamespacePolicy', name: 'a' });
  await pass(h, 2);
  expect(waiting(h)).toHaveLength(3);
  expect(waves(h)).toMatchObject({ state: 'Pausing', wave: 1, moved: 3 });
});

test.each<readonly [string, object, readonly string[]]>([
  ['an exception', { exceptions: [{ namespaces: ['a'], rules: ['namespaces.enforced'] }] }, ['a']],
  [
    'an override that warns',
    { validationActionOverrides: [{ names: ['a'], actions: ['Warn'], reason: 'x' }] },
    ['a'],
  ],
])('a namespace with %s holds up no wave', async (_what, fields, left) => {
  const h = aMesh(mesh({ percent: 50, pause: '1m' }, fields));
  await pass(h, 30);
  expect(waiting(h)).toEqual(left);
  expect(waves(h)).toMatchObject({ state: 'Done' });
});

test('a key that the install does not name moves in no namespace, and the reason is not an error of the match', async () => {
  const h = harness();
  h.namespace('a', { [key]: '1-20' });
  h.policy('p', mesh({ percent: 50 }));
  h.start();
  await h.settle();
  expect(h.condition('NamespacePolicy', 'p')).toMatchObject({ reason: 'Failed' });
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    failures: [{ reason: 'KeyNotAllowed' }],
    waves: { moved: 0, waiting: 0 },
  });
});
