// The walk-through of docs/command-line.md: its steps, run in an empty folder where `reeve` is a program.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { blocksOf } from '../samples/markdown.ts';
import { expectShown } from './document-steps.ts';
import { recipeSteps } from './recipes.ts';
import { compileCache } from './serve-process.ts';

const root = join(import.meta.dirname, '..', '..');
const name = 'command-line';

/** Defines a test for each step. The steps build on each other. */
export function testCommandLinePage(kubeconfig: () => string): void {
  const page = readFileSync(join(root, 'docs', `${name}.md`), 'utf8');
  const steps = recipeSteps({ name, page, flags: [] });
  const parent = mkdtempSync(join(tmpdir(), 'reeve-page-'));
  const place = { folder: join(parent, 'empty'), programs: join(parent, 'bin') };
  mkdirSync(place.folder);
  mkdirSync(place.programs);
  const program = join(place.programs, 'reeve');
  const start = `'${process.execPath}' '${join(root, 'src/main.ts')}' "$@"`;
  writeFileSync(program, `#!/bin/sh\nNODE_COMPILE_CACHE='${compileCache}' exec ${start}\n`);
  chmodSync(program, 0o755);
  afterAll(() => rmSync(parent, { recursive: true }));

  test('the page runs each of its blocks', () => {
    expect(steps).toHaveLength(blocksOf(page).filter(({ language }) => language === 'sh').length);
    expect(steps.length).toBeGreaterThan(20);
  });

  test.each(steps)('$command', async (step) => {
    await expectShown(step, kubeconfig(), place);
  });
}
