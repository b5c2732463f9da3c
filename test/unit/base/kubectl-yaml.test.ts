// Compares our reading of YAML with that of kubectl. The tables hold what YAMLToJSON of sigs.k8s.io/yaml v1.6.0 returned:
// https://pkg.go.dev/sigs.k8s.io/yaml@v1.6.0#YAMLToJSON
import { describe, expect, it } from 'vitest';
import { readByKubectl } from '../../../src/base/yaml-tree.ts';
import { parseYaml, stringifyYaml } from '../../../src/base/yaml.ts';

const booleans: readonly (readonly [string, boolean])[] = [
  ...'y Y yes Yes YES on On ON true True TRUE'.split(' ').map((word) => [word, true] as const),
  ...'n N no No NO off Off OFF false False FALSE'.split(' ').map((word) => [word, false] as const),
];

const numbers: readonly (readonly [string, number])[] = [
  ['010', 8],
  ['-010', -8],
  ['+010', 8],
  ['08', 8],
  ['00', 0],
  ['0o7', 7],
  ['0O7', 7],
  ['-0o17', -15],
  ['0x1F', 31],
  ['0X1F', 31],
  ['-0x1F', -31],
  ['0b11', 3],
  ['-0B11', -3],
  ['1_000', 1000],
  ['1_', 1],
  ['1__0', 10],
  ['-_1', -1],
  ['0_7', 7],
  ['0x_1F', 31],
  ['0b1_1', 3],
  ['1_000.5', 1000.5],
  ['012.5', 12.5],
  ['08.5', 8.5],
  ['5.', 5],
  ['+.5', 0.5],
  ['.1_0', 0.1],
  ['1e3', 1000],
  ['1E+3', 1000],
  ['1_e+3', 1000],
  ['1e_3', 1000],
  ['.5e+3', 500],
  ['12e03', 12_000],
  ['+1', 1],
];

const texts = (
  'yEs tRue nope 0o8 0xG 0b2 _1 + - . -. ._1 1:30 190:20:30 2026-11-23 2026-11-23T10:00:00Z = << inf NaN 1.2.3 --1 +-1 ' +
  '0x 0b 1,000 0x1p4 0x-1 00x1'
).split(' ');

/** Where YAML 1.2 reads the same. */
const same = new Set(
  'true True TRUE false False FALSE 08 00 0o7 0x1F 012.5 08.5 5. +.5 1e3 1E+3 .5e+3 12e03 +1'.split(' '),
);

describe('an unquoted value', () => {
  it.each<readonly [string, unknown]>([
    ...booleans,
    ...numbers,
    ...texts.map((text) => [text, text] as const),
  ])('%s is %j for kubectl', (plain, value) => {
    expect(readByKubectl(plain)).toBe(value);
  });

  it.each([...booleans, ...numbers])('%s is reported if YAML 1.2 reads another value', (plain, value) => {
    const [kind, instead] =
      typeof value === 'boolean'
        ? ['a boolean', 'true or false']
        : [plain.endsWith('010') ? 'another number' : 'a number', 'a decimal number'];
    const message = `kubectl reads this value as ${kind}, because it is not quoted (YAML 1.1); quote it, or write ${instead}`;
    expect(misreadIn(`a:\n  - ${plain}\n`)).toEqual(same.has(plain) ? [] : [`2:5 ${message}`]);
  });

  it.each([
    ...texts.filter((text) => !/^[-=<]/.test(text)),
    '~',
    'null',
    '.5',
    '-0',
    '1.0',
    '9007199254740993',
  ])('%s is not reported, because kubectl reads the same', (plain) => {
    expect(misreadIn(`a: ${plain}\n`)).toEqual([]);
  });

  it.each(['.inf', '-.Inf', '.nan'])('%s is reported, because kubectl refuses it', (plain) => {
    expect(misreadIn(`a: ${plain}\n`)).toEqual([
      '1:4 kubectl refuses this value, because JSON has no such number; quote it',
    ]);
  });

  it('an unquoted value is not reported if it is quoted or a block', () => {
    expect(misreadIn(`a: "on"\nb: 'yes'\nc: |\n  no\nd: >\n  010\n`)).toEqual([]);
  });

  it('an unquoted value is reported once, however many aliases it has, and never quoted', () => {
    const found = misreadIn('a: &pin 1_234\nb: *pin\nc: *pin\n');
    expect(found).toEqual([expect.stringMatching(/^1:9 /)]);
    expect(found.join()).not.toContain('234');
  });

  it('an unquoted value is quoted in the YAML that we write', () => {
    const all = [...booleans, ...numbers].map(([plain]) => plain);
    expect(misreadIn(stringifyYaml({ all, ...Object.fromEntries(all.map((plain) => [plain, 1])) }))).toEqual(
      [],
    );
  });
});

describe('an unquoted key', () => {
  it.each([
    ['on', 'true'],
    ['n', 'false'],
    ['TRUE', 'true'],
    ['010', '8'],
    ['1_000', '1000'],
    ['1e3', '1000'],
    ['0x1F', '31'],
    ['1.0', '1'],
    ['.5', '0.5'],
  ])('%s is the key %s for kubectl', (plain, key) => {
    const message = `kubectl reads the key "${plain}" as "${key}", because it is not quoted (YAML 1.1); quote it, or write "${key}"`;
    expect(misreadIn(`labels: { ${plain}: x }\n`)).toEqual([`1:11 ${message}`]);
  });

  it.each(['true', '10', '1.5', '12345678901234567890', '2026-11-23', '"on"', "'010'"])(
    '%s is not reported, because kubectl reads the same',
    (plain) => {
      expect(misreadIn(`${plain}: x\n`)).toEqual([]);
    },
  );
});

describe('a merge key', () => {
  const maps = 'b: &b { x: 1, z: 2 }\nc: &c { x: 3, w: 4 }\n';

  it.each<readonly [string, unknown]>([
    ['{ <<: *b }', { x: 1, z: 2 }],
    ['{ <<: { x: 1 } }', { x: 1 }],
    ['{ <<: *b, x: 5 }', { x: 5, z: 2 }],
    ['{ x: 5, <<: *b }', { x: 1, z: 2 }],
    ['{ <<: [*b, *c] }', { x: 1, z: 2, w: 4 }],
    ['{ <<: *b, <<: *c }', { x: 3, z: 2, w: 4 }],
    ['{ <<: [*b, { x: 2 }], x: 3 }', { x: 3, z: 2 }],
    ['{ <<: { <<: *b, q: 1 } }', { x: 1, z: 2, q: 1 }],
    ['{ <<: [] }', {}],
    ['{ "<<": { x: 1 } }', { '<<': { x: 1 } }],
    ['[<<]', ['<<']],
  ])('%s is merged as kubectl merges it', (text, value) => {
    const [document] = parseYaml(`${maps}a: ${text}\n`).documents;
    expect(document).toMatchObject({ kind: 'data', value: { a: value } });
    expect(document?.kind === 'data' && document.value).toHaveProperty('a', value);
  });

  it.each(['{ <<: 1 }', '{ <<: ~ }', '{ <<: }', '{ <<: [[1]] }', '{ <<: [{ x: 1 }, 2] }'])(
    '%s is a problem, as for kubectl',
    (text) => {
      const message = 'invalid YAML: a merge key (<<) without an object or a list of objects';
      const [document] = parseYaml(`a: ${text}\n`).documents;
      expect(document).toMatchObject({ kind: 'broken', problems: [{ line: 1, column: 6, message }] });
    },
  );

  it('a merge key cannot multiply the size of a text', () => {
    const wide = Array.from({ length: 300 }, (_, index) => `k${index}: 1`).join(', ');
    const text = `a: &a { ${wide} }\n${Array.from({ length: 300 }, (_, index) => `b${index}: { <<: *a }`).join('\n')}\n`;
    const [document] = parseYaml(text).documents;
    expect(document?.kind === 'broken' && document.problems[0]?.message).toBe(
      'invalid YAML: aliases that expand to too much data',
    );
  });
});

it('the misread values of a document are counted after the first 20', () => {
  const found = misreadIn('- on\n'.repeat(23));
  expect(found).toHaveLength(20);
  expect(found.filter((each) => each.endsWith(' (and 3 more of this kind)'))).toEqual([found.at(-1)]);
});

function misreadIn(text: string): readonly string[] {
  return parseYaml(text).documents.flatMap((document) => {
    if (document.kind !== 'data') throw new Error('not read');
    return document.misread.map(({ line, column, message }) => `${line}:${column} ${message}`);
  });
}
