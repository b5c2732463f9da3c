// Reads YAML: data, documents, and problems with their positions.
import { describe, expect, it } from 'vitest';
import { parseYaml, stringifyYaml } from '../../../src/base/yaml.ts';

type YamlDocument = ReturnType<typeof parseYaml>['documents'][number];

function outline(document: YamlDocument): unknown {
  if (document.kind === 'empty') return 'empty';
  if (document.kind === 'data') return { data: document.value };
  return document.problems.map(
    ({ line, column, message }) => `${line}:${column} ${message.replace(/^invalid YAML: /, '')}`,
  );
}

describe('valid YAML', () => {
  it.each<readonly [string, string, readonly unknown[]]>([
    ['empty text', '', []],
    ['a text with only a comment', '# nothing here\n', []],
    ['a text with empty documents', '---\n---\n~\n---\na: 1\n', ['empty', 'empty', { data: { a: 1 } }]],
    [
      'a value of the core schema',
      'a: 0x10\nb: 0o7\nc: 1e3\nd: ~\ne: true\n',
      [{ data: { a: 16, b: 7, c: 1000, d: null, e: true } }],
    ],
    [
      'a word with a meaning in YAML 1.1 only, as text,',
      'a: yes\nb: on\nc: 2026-01-01\nd: 1:30\n',
      [{ data: { a: 'yes', b: 'on', c: '2026-01-01', d: '1:30' } }],
    ],
    ['a number or boolean as a key, as text,', '5: a\ntrue: b\n', [{ data: { '5': 'a', true: 'b' } }]],
    ['an alias', 'a: &x { y: 1 }\nb: *x\n', [{ data: { a: { y: 1 }, b: { y: 1 } } }]],
    [
      'an anchor that is set twice',
      'a: &x 1\nb: *x\nc: &x 2\nd: *x\n',
      [{ data: { a: 1, b: 1, c: 2, d: 2 } }],
    ],
    ['JSON with tabs', '{\n\t"a": [1, "\\u0041\\/"]\n}', [{ data: { a: [1, 'A/'] } }]],
    ['a text with a byte order mark', '\uFEFFa: 1\n', [{ data: { a: 1 } }]],
    ['a text with carriage returns', 'a: 1\r\nb: 2\r\n', [{ data: { a: 1, b: 2 } }]],
  ])('%s is read', (_title, text, documents) => {
    expect(parseYaml(text).documents.map(outline)).toEqual(documents);
  });

  it('__proto__ is a plain key', () => {
    const [document] = parseYaml('__proto__: { polluted: true }\n').documents;
    if (document?.kind !== 'data') throw new Error('refused');
    expect(Object.keys(document.value as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(document.value)).toBe(Object.prototype);
  });
});

describe('invalid YAML', () => {
  it.each<readonly [string, string, string]>([
    ['a repeated key', 'a: 1\nb: 2\na: 3\n', '3:1 the key "a" is repeated'],
    ['a repeated key in another spelling', '"a": 1\na: 2\n', '2:1 the key "a" is repeated'],
    [
      'an unknown tag',
      'a: !mine 1\n',
      '1:4 an unsupported tag (a word that begins with !), or a value that its tag does not allow',
    ],
    [
      'a binary tag',
      'a: !!binary aGk=\n',
      '1:4 an unsupported tag (a word that begins with !), or a value that its tag does not allow',
    ],
    ['an unknown directive', '%MINE\n---\na: 1\n', '1:1 an unknown directive'],
    ['an open bracket', 'a: [1,\nb: 2\n', '2:1 wrong indentation, or a bracket above is not closed'],
    ['an open quote', "a: 'b\n", '2:1 a bracket, quote, comma or colon is missing'],
    ['a tab as indentation', 'a:\n\tb: 1\n', '2:1 indentation with a tab instead of spaces'],
    ['an unknown escape', 'a: "\\q"\n', '1:5 an unknown escape in double quotes'],
    ['a list as a key', '? [a]\n: 1\n', '1:3 a key that is not one line of plain text'],
    ['an alias as a key', 'x: &a y\n*a : 1\n', '2:1 a key that is not one line of plain text'],
    ['an alias without an anchor', 'a: *b\n', '1:4 an alias without an anchor before it'],
    ['an alias within itself', 'a: &b [*b]\n', '1:8 an alias without an anchor before it'],
    ['deep nesting', '['.repeat(150) + ']'.repeat(150), '1:102 nesting deeper than 100 levels'],
  ])('%s is a problem', (_title, text, problem) => {
    const [document] = parseYaml(text).documents;
    expect(document && outline(document)).toContain(problem);
  });

  it('nesting too deep for the library is a problem', () => {
    const [document] = parseYaml('['.repeat(20_000)).documents;
    expect(document && outline(document)).toEqual([expect.stringMatching(/nesting too deep$/)]);
  });

  it('aliases that multiply the size are a problem', () => {
    const levels = 'bcdefghijk'
      .split('')
      .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[index]}`).join(', ')}]`);
    const [document] = parseYaml(['a: &a [1]', ...levels].join('\n')).documents;
    expect(document && outline(document)).toEqual(['1:1 aliases that expand to too much data']);
  });

  it('a broken document does not affect the other documents', () => {
    const { documents } = parseYaml('a: 1\n---\nb: [\n---\nc: 3\n');
    expect(documents.map(({ kind }) => kind)).toEqual(['data', 'broken', 'data']);
  });

  it('a problem does not quote the text', () => {
    const { documents } = parseYaml('password: "hunter2\n');
    expect(JSON.stringify(documents)).not.toContain('hunter2');
  });
});

describe('stringifyYaml', () => {
  it.each<readonly [string, unknown]>([
    [
      'a word with another meaning in YAML 1.1',
      { a: 'yes', b: 'on', c: '0o7', d: '1:30', e: 'null', f: '~' },
    ],
    ['an object with two equal values', { a: { x: 1 }, b: { x: 1 } }],
    ['a long line', { a: 'word '.repeat(100) }],
    ['text of several lines', { a: 'one\ntwo\n' }],
  ])('%s is written and read unchanged', (_title, value) => {
    const [document] = parseYaml(stringifyYaml(value)).documents;
    expect(document).toMatchObject({ kind: 'data', value });
  });

  it('stringifyYaml quotes what YAML 1.1 would read differently, and writes no anchors', () => {
    const shared = { x: 1 };
    expect(stringifyYaml({ a: 'yes', b: shared, c: shared })).toBe('a: "yes"\nb:\n  x: 1\nc:\n  x: 1\n');
  });
});
