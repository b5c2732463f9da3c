// How commands print data: tables, styles and JSON.
import { describe, expect, test } from 'vitest';
import { dataText, jsonText } from '../../../src/cli/output/data-text.ts';
import { parseYaml } from '../../../src/base/yaml.ts';
import { cleanText } from '../../../src/cli/output/clean-text.ts';
import { startedProgress } from '../../../src/cli/output/progress.ts';
import { styleFor } from '../../../src/cli/output/style.ts';
import { tableText } from '../../../src/cli/output/table.ts';

test('the columns of a table are as wide as their longest cell, and control characters are replaced', () => {
  const rows = [
    ['POLICY', 'NAMESPACE', 'NOTE'],
    ['team', 'a-long-namespace', '\u001b[31mred'],
    ['x', ''],
  ];
  expect(tableText(rows, '  ')).toBe(
    ['  POLICY  NAMESPACE         NOTE', '  team    a-long-namespace  \uFFFD[31mred', '  x', ''].join('\n'),
  );
  expect(tableText([])).toBe('');
});

test('a table keeps a sentence in its last column whole, and takes any number of rows', () => {
  const sentence = 'a'.repeat(500);
  expect(tableText([['x', sentence]])).toBe(`x  ${sentence}\n`);
  expect(tableText([[sentence, 'x']])).toBe(`${'a'.repeat(199)}…  x\n`);
  const rows = Array.from({ length: 200_000 }, (_, index) => [String(index), 'x']);
  expect(tableText(rows).split('\n')).toHaveLength(200_001);
});

test('without colors, a style leaves texts as they are', () => {
  const [plain, colored] = [styleFor(false), styleFor(true)];
  expect(plain.added('+ a')).toBe('+ a');
  expect(colored.added('+ a')).toBe('\u001b[32m+ a\u001b[39m');
  expect(colored.removed('- a')).toBe('\u001b[31m- a\u001b[39m');
});

function reading(): { printed: string[]; at: (ms: number, objects: number) => void; end: () => void } {
  const printed: string[] = [];
  let now = 0;
  const progress = startedProgress((text) => void printed.push(text.replaceAll('\r\u001b[K', '<')), {
    monotonic: () => now,
  });
  const at = (ms: number, objects: number): void => {
    now = ms;
    progress.read(objects);
  };
  return { printed, at, end: progress.end };
}

test('the progress of a long read is one line that is written again, and cleared at the end', () => {
  const { printed, at, end } = reading();
  at(499, 500);
  at(500, 500);
  at(550, 500);
  at(600, 500);
  end();
  expect(printed).toEqual([
    '<reading the cluster: 1,000 objects',
    '<reading the cluster: 2,000 objects',
    '<',
  ]);
});

test('the progress of a long read is not shown for a short one', () => {
  const { printed, at, end } = reading();
  at(499, 500);
  end();
  expect(printed).toEqual([]);
});

test('JSON begins with its version', () => {
  const output = { works: true, kind: 'CheckResults', apiVersion: 'cli.reeve.dev/v1' } as const;
  expect(Object.keys(JSON.parse(jsonText(output)) as object)).toEqual(['apiVersion', 'kind', 'works']);
});

describe('a value that a terminal or the runner of a pipeline obeys', () => {
  const values = [
    '::error file=a,line=1::injected',
    'first\n::stop-commands::x\n  ::x::',
    'a ##[error]b and ##[group]c',
    '\u001B[31mred\u0007\r\u0085\u2028',
    'a\u202Eb\u2066c\u200F',
    'b\n\t\u0000',
  ];
  const output = {
    apiVersion: 'cli.reeve.dev/v1',
    kind: 'Test',
    values,
    byKey: Object.fromEntries(values.map((key) => [key, key])),
  } as const;

  test.each(['yaml', 'json'] as const)(
    'a reader of %s gets the same value, and a terminal none of it',
    (format) => {
      const text = dataText(format, output);
      expect(cleanText(text, { isColored: false, givesCommands: false })).toBe(text);
      expect(parseYaml(text).documents).toMatchObject([{ kind: 'data', value: output }]);
    },
  );
});
