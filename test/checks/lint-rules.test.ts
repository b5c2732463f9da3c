// The rules of the code hold: each fault planted here is one that `npm run check` must refuse.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const faults = [
  [
    'a folder that imports one it must not know',
    'src/policy/a.ts',
    "export { x } from '../admission/x.ts';",
    'no-restricted-imports',
  ],
  [
    'a type from such a folder',
    'src/policy/rules/b.ts',
    "import type { X } from '../../state/x.ts';\nexport type Y = X;",
    'no-restricted-imports',
  ],
  [
    'an edge that imports another',
    'src/certs/c.ts',
    "export { x } from '../observe/x.ts';",
    'no-restricted-imports',
  ],
  [
    'a library outside its door',
    'src/admission/d.ts',
    "import forge from 'node-forge';\nexport const pki = forge.pki;",
    'no-restricted-imports',
  ],
  [
    'I/O in the engine',
    'src/policy/e.ts',
    "export { readFileSync } from 'node:fs';",
    'no-restricted-imports',
  ],
  ['a default export', 'src/policy/f.ts', 'const x = 1;\nexport default x;', 'no-default-export'],
  [
    'a promise that nobody waits for',
    'src/wire/g.ts',
    'async function f() { await Promise.resolve(); }\nexport function g() { f(); }',
    'no-floating-promises',
  ],
  [
    'a switch that forgets a case',
    'src/wire/h.ts',
    "export function h(x: 'a' | 'b') { switch (x) { case 'a': return 1; } return 2; }",
    'switch-exhaustiveness-check',
  ],
  ['an any', 'src/wire/i.ts', 'export function i(x: any) { return x; }', 'no-explicit-any'],
  ['a cycle', 'src/wire/j.ts', "import { k } from './k.ts';\nexport const j = () => k;", 'no-cycle'],
  ['its other half', 'src/wire/k.ts', "import { j } from './j.ts';\nexport const k = () => j;", 'no-cycle'],
  ['a file that nobody can hold in their head', 'src/wire/l.ts', 'export {};\n'.repeat(251), 'max-lines'],
  [
    'a function that fits no screen',
    'src/wire/m.ts',
    `export function m() {\n${'  String(1);\n'.repeat(60)}}`,
    'max-lines-per-function',
  ],
  ['an exported variable that changes', 'src/wire/n.ts', 'export let n = 1;\nn += 1;', 'no-mutable-exports'],
] as const;

let folder = '';
let output = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-lint-'));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  for (const file of ['oxlint.config.ts', 'tsconfig.json', 'package.json']) cpSync(file, join(folder, file));
  for (const [, file, text] of faults) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { stdout, error } = spawnSync('oxlint', ['--type-aware', '--format=unix', 'src'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  output = stdout;
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test.for(faults)('%s is refused', ([, file, , rule]) => {
  const lines = output.split('\n').filter((line) => line.startsWith(file) && line.includes(rule));
  expect(lines, output).not.toEqual([]);
});
