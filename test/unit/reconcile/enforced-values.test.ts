import { expect, test } from 'vitest';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const key = 'istio.io/rev';
const install = { enforcedKeys: [key] };
const mesh = (fields: object = {}, value = '1-22') => ({
  match: { names: ['*'] },
  existing: 'Repair',
  namespaces: { enforced: { labels: { [key]: value } } },
  ...fields,
});

type Values = readonly (string | undefined)[];

function valuesIn(h: ReturnType<typeof harness>, ...names: readonly string[]): Values {
  return names.map((name) => h.get('Namespace', name)?.metadata.labels?.[key]);
}

test('Repair changes the value of a key that the install names, and says so in an event', async () => {
  const h = harness({ install });
  h.namespace('a', { [key]: '1-20' });
  h.namespace('b');
  h.policy('p', mesh());
  h.start();
  await h.settle();
  expect(valuesIn(h, 'a', 'b')).toEqual(['1-22', '1-22']);
  const reasons = h.told.events.filter(({ reason }) => ['Added', 'Changed'].includes(reason));
  expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(['Added', 'Changed']));
  h.namespace('a', { [key]: '1-19' });
  await h.settle();
  expect(valuesIn(h, 'a')).toEqual(['1-22']);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ violations: 0, failed: 0 });
});

test.each<readonly [string, object]>([
  ['existing is Report', { existing: 'Report' }],
  ['the policy is suspended', { suspend: true }],
  ['the policy only warns', { validationActions: ['Warn'] }],
  ['the namespace has an exception', { exceptions: [{ namespaces: ['a'], rules: ['namespaces.enforced'] }] }],
  [
    'an override warns there',
    { validationActionOverrides: [{ names: ['a'], actions: ['Warn'], reason: 'wave 2' }] },
  ],
])('an existing namespace keeps its value when %s', async (_what, fields) => {
  const h = harness({ install });
  h.namespace('a', { [key]: '1-20' });
  h.policy('p', mesh(fields));
  h.start();
  await h.settle();
  expect(valuesIn(h, 'a')).toEqual(['1-20']);
});

test('a key that the install does not name is added and never changed, and the status says what to do', async () => {
  const h = harness();
  h.namespace('a', { [key]: '1-20' });
  h.namespace('b');
  h.policy('p', mesh());
  h.start();
  await h.settle();
  expect(valuesIn(h, 'a', 'b')).toEqual(['1-20', '1-22']);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({
    failures: [
      {
        namespace: 'a',
        kind: 'Namespace',
        reason: 'KeyNotAllowed',
        message: expect.stringContaining('enforcedKeys') as unknown,
      },
    ],
  });
});

test('the first of two policies that enforce different values holds, and the status of the other names the conflict', async () => {
  const h = harness({ install });
  h.namespace('a', { [key]: '1-20' });
  h.policy('p', mesh());
  h.policy('q', mesh({}, '1-23'));
  h.start();
  await h.settle();
  expect(valuesIn(h, 'a')).toEqual(['1-22']);
  expect(h.status('NamespacePolicy', 'q')).toMatchObject({
    conflicts: 1,
    failures: [
      {
        namespace: 'a',
        reason: 'ProvidedByAnother',
        message: `NamespacePolicy/p comes first and enforces label ${key}=1-22, not 1-23`,
      },
    ],
  });
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failed: 0 });
});

test('values change in at most maxDeletions namespaces within ten minutes, and in the others later', async () => {
  const h = harness({ install });
  const names = ['a', 'b', 'c'];
  for (const name of names) h.namespace(name, { [key]: '1-20' });
  h.policy('p', mesh({ maxDeletions: 2 }));
  h.start();
  await h.settle();
  const changed = () => valuesIn(h, ...names).filter((value) => value === '1-22').length;
  expect(changed()).toBe(2);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failures: [{ reason: 'TooManyChanges' }] });
  await h.settle(600_000);
  expect(changed()).toBe(3);
  expect(h.status('NamespacePolicy', 'p')).toMatchObject({ failed: 0 });
});

test('two policies that change one key back and forth stop after some writes, and say so', async () => {
  const h = harness({ install });
  const flip = (when: string, value: string) => ({
    ...mesh({}, value),
    match: {
      names: ['*'],
      matchConditions: [
        { name: 'when', expression: `namespaceObject.metadata.?labels[?'${key}'].orValue('') == '${when}'` },
      ],
    },
  });
  h.namespace('a', { [key]: '1' });
  h.policy('p', flip('1', '2'));
  h.policy('q', flip('2', '1'));
  h.start();
  await h.settle();
  expect(h.takeWrites().filter(({ kind }) => kind === 'Namespace').length).toBeLessThan(40);
  const failures = [h.status('NamespacePolicy', 'p'), h.status('NamespacePolicy', 'q')].flatMap(
    (status) => status['failures'] ?? [],
  );
  expect(failures).toMatchObject([{ reason: 'Contended' }]);
});
