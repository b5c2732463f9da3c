// Values in a text of YAML are changed, and nothing around them.
import { expect, test } from 'vitest';
import { editedYaml, type YamlEdit } from '../../../src/base/yaml-edit.ts';
import { parseYaml } from '../../../src/base/yaml.ts';

const edit = (path: YamlEdit['path'], value: unknown, within: YamlEdit['within'] = path.slice(0, -1)) => ({
  document: 1,
  path,
  within,
  value,
});

test.for<[title: string, before: string, edits: readonly YamlEdit[], after: string]>([
  [
    'a scalar changes alone',
    '# head\n"a":   old   # one\nb: [1,\n  2]\n',
    [edit(['a'], 'new')],
    '# head\n"a":   new   # one\nb: [1,\n  2]\n',
  ],
  ['a word that YAML 1.1 reads as a boolean is quoted', 'a: x\n', [edit(['a'], 'yes')], "a: 'yes'\n"],
  ['a short word is quoted', 'a: x\n', [edit(['a'], 'n')], "a: 'n'\n"],
  ['a text with a quote is quoted', 'a: x\n', [edit(['a'], "it's: b")], "a: 'it''s: b'\n"],
  ['a text of two lines stays in one line', 'a: x\nb: 1\n', [edit(['a'], 'b\nc')], 'a: "b\\nc"\nb: 1\n'],
  ['a block becomes a text', 'a: |-\n  x\n  y\nb: 1\n', [edit(['a'], 'new')], 'a: new\nb: 1\n'],
  ['in JSON a text has double quotes', '{"a": "x"}\n', [edit(['a'], 'new')], '{"a": "new"}\n'],
  [
    'a number and null are written as such',
    'a: x\nb: y\n',
    [edit(['a'], 2), edit(['b'], null)],
    'a: 2\nb: null\n',
  ],
  [
    'an item goes, and its neighbors keep their comments',
    'a:\n  - x # first\n  # before\n  - v # second\nb: {c: 1}\n',
    [edit(['a', 0], undefined)],
    'a:\n  # before\n  - v # second\nb: {c: 1}\n',
  ],
  [
    'an item comes at the end of a list',
    'a: [x]\nb: {c:   1}\n',
    [edit(['a', 1], 'v')],
    'a: [x, v]\nb: {c:   1}\n',
  ],
  [
    'a key goes, and another one comes',
    'a:\n  b: 1 # one\n  c: 2\nd: 3\n',
    [edit(['a', 'e'], 'new'), edit(['a', 'c'], undefined)],
    'a:\n  b: 1 # one\n  e: new\nd: 3\n',
  ],
  [
    'two items go',
    'a: {b: [x, v, z]}\n',
    [edit(['a', 'b', 2], undefined), edit(['a', 'b', 0], undefined)],
    'a: {b: [v]}\n',
  ],
  [
    'the second document changes alone',
    'a: 1\n---\n# two\na: [x]   # list\n---\na: 3\n',
    [{ ...edit(['a', 1], 'v'), document: 2 }],
    'a: 1\n---\n# two\na: [x, v] # list\n---\na: 3\n',
  ],
  [
    'below an alias no key goes',
    'a: &x {b: 1}\nc: *x\n',
    [edit(['c', 'b'], undefined)],
    'a: &x {b: 1}\nc: *x\n',
  ],
  [
    'a value changes at its anchor, and not through an alias',
    'a: &x {b: 1}\nc: *x\nd: [*x]\n',
    [edit(['a', 'b'], 2), edit(['c', 'b'], 3), edit(['d', 0, 'b'], 4)],
    'a: &x {b: 2}\nc: *x\nd: [*x]\n',
  ],
  [
    'beside an alias an item goes, and an anchor stays',
    'a: &x\n  b: [1, 2]\nc: {d: *x, e: [1]}\nf: *x\n',
    [edit(['a', 'b', 0], undefined, ['a']), edit(['c', 'e', 0], undefined, ['c'])],
    'a: &x\n  b: [ 2 ]\nc: {d: *x, e: []}\nf: *x\n',
  ],
  [
    'a key overrides what a merge key brings',
    'a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n',
    [edit(['c', 'b'], 2, ['c'])],
    'a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n  b: 2\n',
  ],
  ['a place that does not exist stays away', 'a: 1\n', [edit(['b', 'c'], 'x')], 'a: 1\n'],
  ['an empty value is filled', 'a:\nb: 1\n', [edit(['a'], 'x', [])], 'a: x\nb: 1\n'],
])('%s', ([, before, edits, after]) => {
  const changed = editedYaml(before, edits);
  expect(changed).toBe(after);
  expect(parseYaml(changed).documents.every(({ kind }) => kind === 'data')).toBe(true);
});
