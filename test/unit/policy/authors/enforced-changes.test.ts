import { expect, test } from 'vitest';
import {
  aSnapshot,
  knownNamespace,
  providerObject,
  testInstall,
  writeDecision,
} from '../../../support/engine.ts';

const key = 'istio.io/rev';
const install = { ...testInstall, enforcedKeys: [key] };
const namespaces = ['a', 'b', 'c'].map((name) => knownNamespace(name, { [key]: '1-20' }));

function written(fields: object, value: string, annotations: Readonly<Record<string, string>> = {}) {
  const spec = {
    match: { names: ['*'] },
    existing: 'Repair',
    maxDeletions: 2,
    namespaces: { enforced: { labels: { [key]: value } } },
    ...fields,
  };
  return providerObject('NamespacePolicy', 'p', spec, { annotations });
}

test('a write that changes values in more namespaces than maxDeletions is refused, until a person confirms the number', () => {
  const oldObject = written({}, '1-20');
  const decide = (object: ReturnType<typeof written>) =>
    writeDecision({ oldObject, object }, aSnapshot([], namespaces), { install });
  const { violations } = decide(written({}, '1-22'));
  expect(violations).toMatchObject([
    {
      violation: {
        rule: 'fuse',
        found: `label ${key} in 3 namespaces to be changed`,
        accepted: expect.stringContaining('at most 2') as unknown,
      },
    },
  ]);
  const confirmed = decide(written({}, '1-22', { 'reeve.dev/confirm-deletions': '3' }));
  expect(confirmed.violations).toEqual([]);
  expect(confirmed.notices).toContainEqual(
    `NamespacePolicy/p now changes label ${key} in 3 namespaces: a, b, c`,
  );
});

test('a write that changes no value in more namespaces than before is not refused', () => {
  const decide = (oldObject: ReturnType<typeof written>, object: ReturnType<typeof written>) =>
    writeDecision({ oldObject, object }, aSnapshot([], namespaces), { install }).violations;
  expect(decide(written({}, '1-22'), written({ contact: 'x' }, '1-22'))).toEqual([]);
  expect(decide(written({}, '1-20'), written({ existing: 'Report' }, '1-22'))).toEqual([]);
});

const inWaves = (waves: object | undefined) =>
  written({ namespaces: { enforced: { labels: { [key]: '1-22' }, ...(waves && { waves }) } } }, '1-22');

test.for<readonly [string, object, object | undefined, boolean]>([
  ['takes the waves away', { percent: 10 }, undefined, true],
  ['moves more at once', { percent: 10 }, { percent: 50 }, true],
  ['pauses for a shorter time', { percent: 10 }, { percent: 10, pause: '1m' }, true],
  ['changes nothing of the waves', { percent: 10 }, { percent: 10, minReady: 50 }, false],
  ['moves fewer at once', { percent: 50 }, { percent: 10 }, false],
])('a write that %s counts the namespaces that it changes sooner', ([, before, after, isCounted]) => {
  const { violations } = writeDecision(
    { oldObject: inWaves(before), object: inWaves(after) },
    aSnapshot([], namespaces),
    { install },
  );
  expect(violations.map(({ violation }) => violation.rule)).toEqual(isCounted ? ['fuse'] : []);
});

test('a write warns of keys that the install does not let Reeve change', () => {
  const { notices, violations } = writeDecision(
    { oldObject: written({}, '1-20'), object: written({}, '1-22') },
    aSnapshot([], namespaces),
  );
  expect(violations).toEqual([]);
  expect(notices).toContainEqual(
    expect.stringContaining(`NamespacePolicy/p leaves label ${key} as it is in 3 namespaces`),
  );
});
