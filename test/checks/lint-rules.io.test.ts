// The rules of the code hold: each fault planted here is one that `npm run check` must refuse.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const engine = {
  process: 'export const a = process.env;',
  setTimeout: 'export const b = setTimeout;',
  setInterval: 'setInterval(String, 1);',
  setImmediate: 'setImmediate(String);',
  fetch: "await fetch('https://x.example');",
  performance: 'export const c = performance.now();',
  crypto: 'export const d = crypto.randomUUID();',
  globalThis: 'export const e = globalThis;',
} as const;

const faults: readonly (readonly [title: string, file: string, text: string, rule: string])[] = [
  ['a folder that imports one it must not know', 'src/policy/a.ts', from('../admission/x.ts'), 'imports'],
  ['a type from such a folder', 'src/policy/plan/b.ts', typeFrom('../../state/x.ts'), 'imports'],
  [
    'a type in the middle of a file',
    'src/policy/b2.ts',
    "export type X = import('../state/x.ts').X;",
    'imports',
  ],
  ['a detour to such a folder', 'src/policy/b3.ts', from('./../../src/state/x.ts'), 'imports'],
  ['all of such a folder', 'src/policy/b4.ts', "export * from '../state/x.ts';", 'imports'],
  ['an edge that imports another', 'src/certs/c.ts', from('../observe/x.ts'), 'imports'],
  [
    'a room of the engine that imports one to its right',
    'src/policy/terms/c2.ts',
    from('../plan/x.ts'),
    'imports',
  ],
  ['a type from a room to its right', 'src/policy/plan/c3.ts', typeFrom('../status/x.ts'), 'imports'],
  ['a rule that imports the engine', 'src/rules/c9.ts', typeFrom('../policy/terms/x.ts'), 'imports'],
  ['a folder that imports where all begins', 'src/cli/c4.ts', from('../main.ts'), 'imports'],
  ['a file beside it that does', 'src/c5.ts', from('./main.ts'), 'imports'],
  ['tests in the program', 'src/app/c8.ts', from('../../test/support/x.ts'), 'imports'],
  ['the inside of CEL', 'src/policy/c6.ts', from('../cel/syntax/lexer.ts'), 'imports'],
  [
    'the inside of CEL from deeper',
    'src/policy/plan/c7.ts',
    typeFrom('../../cel/values/value.ts'),
    'imports',
  ],
  [
    'a command with a preview of its own',
    'src/inspect/plan/c10.ts',
    from('../../policy/decide/decide.ts'),
    'no-restricted-imports',
  ],
  [
    'a part of one',
    'src/inspect/plan/c11.ts',
    "export { mutate } from '../../policy/decide/mutate.ts';",
    'no-restricted-imports',
  ],
  ['a library outside its door', 'src/admission/d.ts', from('node-forge'), 'imports'],
  ['a part of it', 'src/admission/d2.ts', from('node-forge/lib/pki.js'), 'imports'],
  ['a library without a door', 'src/app/d3.ts', from('@kubernetes/client-node'), 'imports'],
  ['a part of it', 'src/app/d4.ts', typeFrom('@kubernetes/client-node/dist/config.js'), 'imports'],
  ['a library for tests', 'src/app/d5.ts', from('fast-check'), 'imports'],
  ['a library of a library', 'src/admission/d6.ts', from('qs'), 'imports'],
  ['a library that is loaded later', 'src/app/d7.ts', "export const d = await import('vitest');", 'imports'],
  ['a module whose name is made', 'src/app/d8.ts', 'export const d = (x: string) => import(x);', 'imports'],
  ['I/O in the engine', 'src/policy/e.ts', from('node:fs'), 'imports'],
  ['timers in the engine', 'src/policy/e2.ts', from('node:timers/promises'), 'imports'],
  ['sockets in the kinds', 'src/api/e3.ts', from('node:net'), 'imports'],
  ['cryptography in the kinds', 'src/schema/e4.ts', from('node:crypto'), 'imports'],
  ['a built-in module without node:', 'src/state/e5.ts', from('fs'), 'imports'],
  ['a part of one', 'src/state/e6.ts', from('fs/promises'), 'imports'],
  ['all of one', 'src/state/e7.ts', "export * from 'path';", 'imports'],
  ['one in a test', 'test/e8.test.ts', "import 'http';", 'imports'],
  ...Object.entries(engine).map(
    ([name, text]) =>
      [`${name} in the engine`, `src/policy/${name}.ts`, text, 'no-restricted-globals'] as const,
  ),
  ['a timer in CEL', 'src/cel/e10.ts', 'setTimeout(String, 1);', 'no-restricted-globals'],
  ['the process in the kinds', 'src/api/e11.ts', 'process.exit();', 'no-restricted-globals'],
  [
    'the clock in the engine',
    'src/policy/e12.ts',
    'export const e = Date.now();',
    'no-restricted-properties',
  ],
  ['the clock in CEL', 'src/cel/e13.ts', 'export const e = new Date();', 'no-clock'],
  ['the clock as text', 'src/api/e14.ts', 'export const e = Date();', 'no-clock'],
  [
    'chance in the engine',
    'src/policy/e15.ts',
    'export const e = Math.random();',
    'no-restricted-properties',
  ],
  ['a variable of a module', 'src/app/n2.ts', 'let n = 1;\nexport const f = () => (n += 1);', 'module-state'],
  ['one that is exported', 'src/app/n3.ts', 'export var n = 1;', 'module-state'],
  ['a cache of a module', 'src/app/n4.ts', 'const n = new Map();\nexport const f = () => n;', 'module-state'],
  ['a list of a module', 'src/app/n5.ts', 'const n: string[] = [];\nexport { n };', 'module-state'],
  ['a map that anybody can change', 'src/app/n6.ts', "export const n = new Map([['a', 1]]);", 'module-state'],
  ['a set that is exported later', 'src/app/n7.ts', 'const n = new Set([1]);\nexport { n };', 'module-state'],
  ['a list that anybody can change', 'src/app/n8.ts', 'export const n = [1, 2];', 'module-state'],
  ['a list whose type says so', 'src/app/n9.ts', 'export const n: string[] = f();', 'module-state'],
  ['a default export', 'src/policy/f.ts', 'const x = 1;\nexport default x;', 'no-default-export'],
  [
    'a promise that nobody waits for',
    'src/app/g.ts',
    'async function f() { await Promise.resolve(); }\nexport function g() { f(); }',
    'no-floating-promises',
  ],
  [
    'a switch that forgets a case',
    'src/app/h.ts',
    "export function h(x: 'a' | 'b') { switch (x) { case 'a': return 1; } return 2; }",
    'switch-exhaustiveness-check',
  ],
  ['an any', 'src/app/i.ts', 'export function i(x: any) { return x; }', 'no-explicit-any'],
  ['a cycle', 'src/app/j.ts', "import { k } from './k.ts';\nexport const j = () => k;", 'no-cycle'],
  ['its other half', 'src/app/k.ts', "import { j } from './j.ts';\nexport const k = () => j;", 'no-cycle'],
  ['a cycle of types', 'src/app/j2.ts', typeFrom('./k2.ts'), 'no-cycle'],
  ['its other half', 'src/app/k2.ts', typeFrom('./j2.ts'), 'no-cycle'],
  ['a file that nobody can hold in their head', 'src/app/l.ts', 'export {};\n'.repeat(351), 'max-lines'],
  [
    'a function that fits no screen',
    'src/app/m.ts',
    `export function m() {\n${'  String(1);\n'.repeat(60)}}`,
    'max-lines-per-function',
  ],
  ['an exported variable that changes', 'src/app/n.ts', 'export let n = 1;\nn += 1;', 'no-mutable-exports'],
];

const good: readonly (readonly [title: string, file: string, text: string])[] = [
  ['the door of CEL', 'src/policy/o.ts', "export type { Bindings } from '../cel/expression.ts';"],
  ['a neighbor inside CEL', 'src/cel/values/p.ts', "export type { Type } from '../types/type.ts';"],
  ['a library at its door', 'src/observe/log.ts', "export { pino } from 'pino';"],
  ['a command, where all begins', 'src/main.ts', from('./cli/command-line.ts')],
  ['a room of the engine that imports one to its left', 'src/policy/plan/o2.ts', from('../terms/glob.ts')],
  ['a built-in module of the engine', 'src/policy/q.ts', from('node:util')],
  ['a time that is given', 'src/policy/r.ts', 'export const r = (at: number) => new Date(at);'],
  [
    'constant lists',
    'src/api/s.ts',
    "export const s = ['a'] as const;\nexport const t: readonly number[] = [1];",
  ],
  ['a constant map', 'src/api/u.ts', "export const u: ReadonlyMap<string, number> = new Map([['a', 1]]);"],
];

function from(module: string): string {
  return `export { x } from '${module}';`;
}

function typeFrom(module: string): string {
  return `import type { X } from '${module}';\nexport type Y = X;`;
}

let folder = '';
let output = '';

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-lint-')));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  for (const file of ['oxlint.config.ts', 'tsconfig.json', 'package.json']) cpSync(file, join(folder, file));
  for (const file of ['lint-plugin.ts', 'import-fault.ts'])
    cpSync(`test/checks/${file}`, join(folder, 'test/checks', file));
  for (const [, file, text] of [...faults, ...good]) plant(file, text);
  output = lint().stdout;
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function plant(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function lint(): { readonly status: number | null; readonly stdout: string } {
  const { stdout, status, error } = spawnSync('oxlint', ['--type-aware', '--format=unix', 'src', 'test'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return { stdout, status };
}

function linesOf(file: string): readonly string[] {
  return output.split('\n').filter((line) => line.startsWith(`${file}:`));
}

test.for(faults)('%s is refused: %s', ([, file, , rule]) => {
  expect(
    linesOf(file).filter((line) => line.includes(`(${rule})]`)),
    output,
  ).not.toEqual([]);
});

test.for(good)('%s is not', ([, file]) => {
  expect(linesOf(file)).toEqual([]);
});

test('a folder that the tables do not know stops the linter', () => {
  plant('src/sidecar/a.ts', 'export {};');
  const { status, stdout } = lint();
  rmSync(join(folder, 'src/sidecar'), { recursive: true });
  expect(status).not.toBe(0);
  expect(stdout).toContain('mayImport has no row for src/sidecar');
});
