// The weight of made-up files: figures, limits, and exports that no file imports.
import { expect, test } from 'vitest';
import { figuresOf, weightProblems } from './figures.ts';
import type { SourceFile } from './source-files.ts';

const most = { files: 3, lines: 20, exports: 4, testLines: 5 };
const a: SourceFile = { path: 'src/room/a.ts', text: 'export const one = 1;\nexport type Two = 2;\n' };

function importing(path: string, text: string): SourceFile {
  return { path, text: `${text}\n` };
}

test('files, lines and exports below src are counted, and lines below test', () => {
  const others = [
    importing('test/a.test.ts', 'export const three = 3;'),
    importing('src/room/README.md', ''),
  ];
  expect(figuresOf([a, ...others])).toEqual({ files: 1, lines: 2, exports: 2, testLines: 1 });
});

test.each([
  ['by name', "import { one, type Two } from '../src/room/a.ts';"],
  ['under other names', "import { one as un, type Two as Deux } from '../src/room/a.ts';"],
  ['over several lines', "import {\n  one,\n  type Two,\n} from '../src/room/a.ts';"],
  ['as a whole', "import * as all from '../src/room/a.ts';"],
  ['when it is needed', "const { one } = await import('../src/room/a.ts');"],
])('a file whose exports are imported %s has no problem', (_, text) => {
  expect(weightProblems([a, importing('test/a.test.ts', text)], most)).toEqual([]);
});

test('an export that no file imports is a problem', () => {
  const other = importing('src/room/b.ts', "import { one } from './a.ts';\nimport { Two } from '../c.ts';");
  expect(weightProblems([a, other], most)).toEqual([
    'src/room/a.ts: no file imports Two, so it needs no export',
  ]);
});

test('each figure above its limit is a problem', () => {
  const others = ['src/room/b.ts', 'test/a.test.ts', 'test/fixtures/a.yaml'].map((path) =>
    importing(path, "import { one, type Two } from '../src/room/a.ts';"),
  );
  expect(weightProblems([a, ...others], { files: 1, lines: 2, exports: 1, testLines: 0 })).toEqual([
    'src: 2 files, at most 1 (test/checks/figures.ts)',
    'src: 3 lines, at most 2 (test/checks/figures.ts)',
    'src: 2 exports, at most 1 (test/checks/figures.ts)',
    'test: 1 lines, at most 0 (test/checks/figures.ts)',
  ]);
});
