// Finds the position of a character of a value in the YAML source.
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../../src/base/yaml.ts';
import { follow, sourceOffset } from '../../../src/base/yaml-tree.ts';

/** Returns the position of the mark @ in the source, and the position that is computed from the value of `a`. */
function placeOfMark(source: string): { readonly expected: number; readonly actual: number | undefined } {
  const [document] = parseYaml(source).documents;
  if (document?.kind !== 'data') throw new Error('refused');
  const { node } = follow(document.root, ['a']);
  if (node.kind !== 'scalar') throw new Error('no text');
  return {
    expected: source.indexOf('@'),
    actual: sourceOffset(source, node, String(node.value).indexOf('@')),
  };
}

describe('sourceOffset', () => {
  it.each([
    ['plain text', 'a: one @ two\n'],
    ['plain text at the start', 'a: x@\n'],
    ['text after other keys', 'x: 1\na: one @ two\n'],
    ['single quotes', "a: 'one @ two'\n"],
    ['single quotes with quotes in them', "a: 'it''s ''one'' @ two'\n"],
    ['double quotes', 'a: "one @ two"\n'],
    ['double quotes with escapes', 'a: "\\"one\\" \\x41\\u0042\\\\ \\t@ two"\n'],
    ['a literal block', 'a: |\n  one\n    two\n\n  three @\n'],
    ['a literal block with a comment and a chomp', 'a: |- # why\n    one\n    @\n'],
    ['a literal block with carriage returns', 'a: |\r\n  one\r\n  two @\r\n'],
    ['a flow map', '{ a: "one @ two" }\n'],
  ])('the position is found in %s', (_title, source) => {
    const { expected, actual } = placeOfMark(source);
    expect(actual).toBe(expected);
  });

  it.each([
    ['a folded block', 'a: >\n  one\n  two @\n'],
    ['plain text over two lines', 'a: one\n  two @\n'],
    ['quotes over two lines', 'a: "one\n  two @"\n'],
    ['a literal block with its own indentation', 'a: |2\n    one @\n'],
  ])('there is no position for %s', (_title, source) => {
    expect(placeOfMark(source).actual).toBeUndefined();
  });
});
