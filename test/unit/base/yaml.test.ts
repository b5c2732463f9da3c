// Reading YAML: data, documents, and faults in our words at their places.
import { describe, expect, it } from 'vitest';
import { parseYaml, stringifyYaml, type YamlDocument } from '../../../src/base/yaml.ts';

function outline(document: YamlDocument): unknown {
  if (document.kind === 'empty') return 'empty';
  if (document.kind === 'data') return { data: document.value };
  return document.problems.map(
    ({ line, column, message }) => `${line}:${column} ${message.replace(/^invalid YAML: /, '')}`,
  );
}

describe('what is read', () => {
  it.each<readonly [string, string, readonly unknown[]]>([
    ['nothing', '', []],
    ['a comment alone', '# nothing here\n', []],
    ['empty documents', '---\n---\n~\n---\na: 1\n', ['empty', 'empty', { data: { a: 1 } }]],
    [
      'values of the core schema',
      'a: 0x10\nb: 0o7\nc: 1e3\nd: ~\ne: true\n',
      [{ data: { a: 16, b: 7, c: 1000, d: null, e: true } }],
    ],
    [
      'words of older YAML as text',
      'a: yes\nb: on\nc: 2026-01-01\nd: 1:30\n',
      [{ data: { a: 'yes', b: 'on', c: '2026-01-01', d: '1:30' } }],
    ],
    ['keys as text', '5: a\ntrue: b\n', [{ data: { '5': 'a', true: 'b' } }]],
    ['aliases', 'a: &x { y: 1 }\nb: *x\n', [{ data: { a: { y: 1 }, b: { y: 1 } } }]],
    [
      'an anchor that is set again',
      'a: &x 1\nb: *x\nc: &x 2\nd: *x\n',
      [{ data: { a: 1, b: 1, c: 2, d: 2 } }],
    ],
    ['a merge key as a plain key', '<<: { a: 1 }\n', [{ data: { '<<': { a: 1 } } }]],
    ['JSON with tabs', '{\n\t"a": [1, "\\u0041\\/"]\n}', [{ data: { a: [1, 'A/'] } }]],
    ['a byte order mark', '\uFEFFa: 1\n', [{ data: { a: 1 } }]],
    ['carriage returns', 'a: 1\r\nb: 2\r\n', [{ data: { a: 1, b: 2 } }]],
  ])('%s', (_title, text, documents) => {
    expect(parseYaml(text).documents.map(outline)).toEqual(documents);
  });

  it('__proto__ as a plain key', () => {
    const [document] = parseYaml('__proto__: { polluted: true }\n').documents;
    if (document?.kind !== 'data') throw new Error('refused');
    expect(Object.keys(document.value as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(document.value)).toBe(Object.prototype);
  });
});

describe('what is refused', () => {
  it.each<readonly [string, string, string]>([
    ['a key twice', 'a: 1\nb: 2\na: 3\n', '3:1 the key "a" is repeated'],
    ['a key twice in other spellings', '"a": 1\na: 2\n', '2:1 the key "a" is repeated'],
    [
      'a tag of its own',
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
    ['a tab that indents', 'a:\n\tb: 1\n', '2:1 indentation with a tab instead of spaces'],
    ['an unknown escape', 'a: "\\q"\n', '1:5 an unknown escape in double quotes'],
    ['a list as a key', '? [a]\n: 1\n', '1:3 a key that is not one line of plain text'],
    ['an alias as a key', 'x: &a y\n*a : 1\n', '2:1 a key that is not one line of plain text'],
    ['an alias to nothing', 'a: *b\n', '1:4 an alias without an anchor before it'],
    ['an alias within itself', 'a: &b [*b]\n', '1:8 an alias without an anchor before it'],
    ['deep nesting', '['.repeat(150) + ']'.repeat(150), '1:102 nesting deeper than 100 levels'],
  ])('%s', (_title, text, fault) => {
    const [document] = parseYaml(text).documents;
    expect(document && outline(document)).toContain(fault);
  });

  it('nesting that the library itself gives up on', () => {
    const [document] = parseYaml('['.repeat(20_000)).documents;
    expect(document && outline(document)).toEqual([expect.stringMatching(/nesting too deep$/)]);
  });

  it('aliases that multiply', () => {
    const levels = 'bcdefghijk'
      .split('')
      .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[index]}`).join(', ')}]`);
    const [document] = parseYaml(['a: &a [1]', ...levels].join('\n')).documents;
    expect(document && outline(document)).toEqual(['1:1 aliases that expand to too much data']);
  });

  it('one document of several', () => {
    const { documents } = parseYaml('a: 1\n---\nb: [\n---\nc: 3\n');
    expect(documents.map(({ kind }) => kind)).toEqual(['data', 'broken', 'data']);
  });

  it('without repeating what stands there', () => {
    const { documents } = parseYaml('password: "hunter2\n');
    expect(JSON.stringify(documents)).not.toContain('hunter2');
  });
});

describe('stringifyYaml', () => {
  it.each<readonly [string, unknown]>([
    [
      'words that older readers take for something else',
      { a: 'yes', b: 'on', c: '0o7', d: '1:30', e: 'null', f: '~' },
    ],
    ['equal values twice', { a: { x: 1 }, b: { x: 1 } }],
    ['long text on one line', { a: 'word '.repeat(100) }],
    ['several lines', { a: 'one\ntwo\n' }],
  ])('%s comes back the same', (_title, value) => {
    const [document] = parseYaml(stringifyYaml(value)).documents;
    expect(document).toMatchObject({ kind: 'data', value });
  });

  it('quotes what YAML 1.1 would read differently, and writes no anchors', () => {
    const shared = { x: 1 };
    expect(stringifyYaml({ a: 'yes', b: shared, c: shared })).toBe('a: "yes"\nb:\n  x: 1\nc:\n  x: 1\n');
  });
});
