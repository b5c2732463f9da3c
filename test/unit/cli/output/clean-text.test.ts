// Characters that all output of commands replaces, and characters that stay.
import { describe, expect, test } from 'vitest';
import { cleanText } from '../../../../src/cli/output/clean-text.ts';

const plain = { isColored: false, givesCommands: false };

describe('cleanText', () => {
  test.each([
    ['an escape sequence', 'a\u001B[2Jb', 'a\uFFFD[2Jb'],
    ['a carriage return', 'ok\rbad', 'ok\uFFFDbad'],
    ['an override of the writing direction', 'a\u202Eb', 'a\uFFFDb'],
    ['half a character', 'a\uD800b', 'a\uFFFDb'],
    ['a workflow command at the start of a line', 'a\n::error file=x::y', 'a\n\uFFFD:error file=x::y'],
    ['a workflow command after spaces', '  ::stop-commands::x', '  \uFFFD:stop-commands::x'],
    ['a workflow command of the older form', 'a ##[error]b', 'a #\uFFFD[error]b'],
  ])('%s is replaced', (_, text, expected) => {
    expect(cleanText(text, plain)).toBe(expected);
  });

  test.each(['a\n\tb', 'ü 日本 👩‍👩‍👧', 'std::string', '## [1] heading', ':: no command'])('%j stays', (text) => {
    expect(cleanText(text, plain)).toBe(text);
  });

  test('our own styles stay where the output is colored, and nowhere else', () => {
    const styled = '\u001B[31mred\u001B[39m \u001B[5mblink';
    expect(cleanText(styled, { ...plain, isColored: true })).toBe('\u001B[31mred\u001B[39m \uFFFD[5mblink');
    expect(cleanText(styled, plain)).not.toMatch('\u001B');
  });

  test('the annotations of the command itself stay', () => {
    const annotation = '::error file=a.yaml,line=1,col=1::text\n';
    expect(cleanText(annotation, { ...plain, givesCommands: true })).toBe(annotation);
  });
});
