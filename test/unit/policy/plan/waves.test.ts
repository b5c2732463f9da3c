import { describe, expect, test } from 'vitest';
import type { CompiledWaves } from '../../../../src/rules/waves.ts';
import { compileWaves } from '../../../../src/rules/waves.ts';
import {
  mayMove,
  movedValues,
  nextRecord,
  wavePosition,
  waveFields,
  waveRecordOf,
  wavesText,
  type WaveMember,
  type WaveRecord,
} from '../../../../src/policy/plan/waves.ts';
import { aNamespace, problemsOf } from '../../../support/engine.ts';

const values = 'v';
const minute = 60_000;
const percent = compileWaves({ percent: 30 });
const selector = { namespaceSelector: { matchLabels: { canary: 'true' } } };

/** `a` stands for a namespace that is behind, `A` for one with the values, `!` for one with the values that is not ready. */
function members(text: string): readonly WaveMember[] {
  return text.split('').map((each, index) => ({
    name: `n${index}`,
    position: `${each === 'f' ? 0 : 1}${index}`,
    isBehind: each === 'a' || each === 'f',
    isReady: each !== '!',
  }));
}

const stored = (fields: Partial<WaveRecord>): WaveRecord => ({
  state: 'Moving',
  values,
  through: '',
  isStopped: false,
  wave: 1,
  since: 0,
  moved: 0,
  waiting: 0,
  notReady: [],
  ...fields,
});

const after = (before: WaveRecord | undefined, text: string, now = 0, waves: CompiledWaves = percent) =>
  nextRecord(before, members(text), { waves, values, now });

describe('the next record', () => {
  test.each<readonly [string, WaveRecord | undefined, string, number, Partial<WaveRecord>]>([
    ['begins with 30 percent, rounded up', undefined, 'aaaa', 0, { state: 'Moving', wave: 1, through: '11' }],
    ['is done where no namespace is behind', undefined, 'AA', 0, { state: 'Done', through: '', moved: 2 }],
    ['stays until the wave has its values', stored({ through: '11' }), 'Aaaa', 0, { wave: 1, through: '11' }],
    ['pauses after the wave', stored({ through: '11' }), 'AAaa', minute, { state: 'Pausing', since: minute }],
    [
      'stays in the pause until it is over',
      stored({ through: '11', state: 'Pausing' }),
      'AAaa',
      10 * minute - 1,
      { state: 'Pausing', wave: 1, since: 0 },
    ],
    [
      'begins the next wave after the pause',
      stored({ through: '11', state: 'Pausing' }),
      'AAaa',
      10 * minute,
      { state: 'Moving', wave: 2, through: '13', since: 10 * minute },
    ],
    [
      'stops below the share of ready namespaces',
      stored({ through: '11', state: 'Pausing' }),
      'A!aa',
      10 * minute,
      { state: 'Stopped', isStopped: true, wave: 1, notReady: ['n1'] },
    ],
    [
      'stops in the middle of a wave',
      stored({ through: '12' }),
      '!aaa',
      0,
      { state: 'Stopped', isStopped: true, through: '12' },
    ],
    [
      'pauses again once the namespaces are ready again',
      stored({ through: '11', state: 'Stopped', isStopped: true }),
      'AAaa',
      20 * minute,
      { state: 'Pausing', isStopped: false, since: 20 * minute },
    ],
    [
      'begins again with other values',
      stored({ values: 'other', state: 'Pausing', through: '13', wave: 4 }),
      'aaaa',
      5,
      { state: 'Moving', values, wave: 1, through: '11' },
    ],
    [
      'pauses first with another match, where namespaces have the values already',
      stored({ values: 'other', state: 'Pausing', through: '13', wave: 4 }),
      'aaAA',
      5,
      { state: 'Pausing', values, wave: 0, through: '', since: 5 },
    ],
    [
      'begins at once with another match that selects a namespace without the values',
      stored({ values: 'other', state: 'Pausing', through: '13', wave: 4 }),
      'fAAa',
      5,
      { state: 'Moving', values, wave: 1, through: '00' },
    ],
    [
      'opens nothing in the pause, so that who falls behind then waits for the next wave',
      stored({ through: '11' }),
      'AAaa',
      minute,
      { state: 'Pausing', through: '' },
    ],
    [
      'begins again with namespaces that fall behind after the last wave, so that they get the value in waves, too',
      stored({ state: 'Done', wave: 4 }),
      'aaaA',
      5,
      { state: 'Moving', wave: 1, through: '11', waiting: 3 },
    ],
    [
      'is done after the last wave',
      stored({ through: '13', wave: 2 }),
      'AAAA',
      5,
      { state: 'Done', wave: 2 },
    ],
  ])('%s', (_what, before, text, now, expected) => {
    expect(after(before, text, now)).toMatchObject(expected);
  });

  test('the namespaces of the selector come first, and all others follow in one wave', () => {
    const waves = compileWaves(selector);
    const first = after(undefined, 'aaff', 0, waves);
    expect(first).toMatchObject({ wave: 1, through: '03' });
    const paused = after(stored({ ...first, state: 'Pausing' }), 'aaAA', 10 * minute, waves);
    expect(paused).toMatchObject({ wave: 2, through: '11' });
  });

  test('with both, the percentage applies to the namespaces that the selector leaves', () => {
    const waves = compileWaves({ ...selector, percent: 25 });
    const paused = stored({ state: 'Pausing', through: '03' });
    expect(after(paused, 'aaAA', 10 * minute, waves)).toMatchObject({ wave: 2, through: '10' });
  });

  test('minReady: 0 never stops', () => {
    const waves = compileWaves({ percent: 30, minReady: 0 });
    expect(after(stored({ through: '11', state: 'Pausing' }), '!!aa', 10 * minute, waves)).toMatchObject({
      state: 'Moving',
      wave: 2,
    });
  });
});

describe('the gate', () => {
  test.each<readonly [string, Partial<WaveRecord> | undefined, string, boolean]>([
    ['without a record', undefined, '10', false],
    ['before the first wave', {}, '10', false],
    ['up to the last position of the wave', { through: '12' }, '12', true],
    ['behind the last position', { through: '12' }, '13', false],
    ['after the last wave', { state: 'Done', through: '' }, '10', false],
    ['with the record of other values', { through: '12', values: 'other' }, '10', false],
    ['while the waves are stopped', { through: '12', isStopped: true }, '10', false],
  ])('%s', (_what, record, position, isOpen) => {
    expect(mayMove(record && stored(record), values, position)).toBe(isOpen);
  });
});

test('the form in the status keeps the record', () => {
  const record = stored({ state: 'Stopped', isStopped: true, through: '0a', since: 60_000, notReady: ['a'] });
  expect(waveRecordOf({ waves: waveFields(record) })).toEqual(record);
  for (const status of [undefined, {}, { waves: 5 }, { waves: { ...waveFields(record), since: 'x' } }])
    expect(waveRecordOf(status)).toBeUndefined();
});

test('the order depends on UIDs alone, apart from the selector', () => {
  const waves = compileWaves(selector);
  const position = (uid: string, name: string, labels = {}) =>
    wavePosition(aNamespace({ uid, name, labels }), waves, values);
  expect(position('1', 'a')).toBe(position('1', 'b', { team: 'x' }));
  expect(position('1', 'a')).not.toBe(position('2', 'a'));
  expect(position('2', 'a', { canary: 'true' }) < position('1', 'a')).toBe(true);
});

test('other values, another match and another cluster variable that is read are other waves', () => {
  const spec = (value: string, names: readonly string[] = ['*']) =>
    ({ match: { names }, namespaces: { enforced: { labels: { rev: value } } } }) as unknown as Parameters<
      typeof movedValues
    >[0];
  const of = (each: ReturnType<typeof spec>, region = 'eu') =>
    movedValues(each, { clusterVariables: { region } });
  expect(of(spec('1'))).toBe(of(spec('1'), 'us'));
  const all = [spec('1'), spec('2'), spec('1', ['a'])].map((each) => of(each));
  const reads = spec('${variables.cluster.region}');
  expect(new Set([...all, of(reads), of(reads, 'us')]).size).toBe(5);
});

test.each<readonly [Partial<WaveRecord>, string]>([
  [{ state: 'Done' }, ''],
  [{ moved: 1, waiting: 2 }, 'wave 1: 1 of 3 namespaces have the enforced values'],
  [
    { state: 'Pausing', moved: 1, waiting: 2 },
    'wave 1: 1 of 3 namespaces have the enforced values, the next wave begins after 1970-01-01T00:10:00Z',
  ],
  [
    { state: 'Stopped', moved: 1, waiting: 2, notReady: ['a'] },
    'the waves are stopped: 1 of 3 namespaces have the enforced values, and less than 90 percent of them are ready (a)',
  ],
])('the text of %j says how far the waves are', (fields, text) => {
  expect(wavesText(stored(fields), percent)).toBe(text);
});

test.each<readonly [string, object, readonly unknown[]]>([
  [
    'waves without Repair',
    { namespaces: { enforced: { labels: { rev: '1' }, waves: { percent: 10 } } } },
    [
      'spec.namespaces.enforced.waves: found waves with existing: Report; accepted: waves with existing: Repair',
    ],
  ],
  [
    'waves without a size',
    { existing: 'Repair', namespaces: { enforced: { labels: { rev: '1' }, waves: { pause: '1h' } } } },
    [expect.stringContaining('an object with percent, namespaceSelector or both')],
  ],
  [
    'an unknown field',
    { existing: 'Repair', namespaces: { enforced: { labels: { rev: '1' }, waves: { percents: 10 } } } },
    [expect.stringContaining('did you mean percent?')],
  ],
])('%s are refused', (_what, spec, problems) => {
  expect(problemsOf('p', spec)).toEqual(expect.arrayContaining([...problems]));
});
