// Which documents below a folder are suites, and which were meant as suites.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSuites } from '../../../../src/inspect/suites/load-suite.ts';

test('a misspelled suite is a problem, and the output of another command is not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-suites-'));
  try {
    const documents = [
      'apiVersion: cli.reeve.dev/v1\nkind: Suite',
      'apiVersion: cli.reeve.dev/v1\nkind: TestSuite',
      'apiVersion: cli.reeve.dev/v1alpha1\nkind: Suite',
      'apiVersion: cli.reeve.dev/v1\nkind: Plan',
      'apiVersion: v1\nkind: Namespace',
    ];
    await writeFile(join(folder, 'all.yaml'), documents.join('\n---\n'));
    const { suites, problems } = await findSuites([folder]);
    expect(suites).toHaveLength(1);
    expect(problems.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '5: kind: found "TestSuite"; accepted: Suite',
      '7: apiVersion: found "cli.reeve.dev/v1alpha1"; accepted: cli.reeve.dev/v1',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
