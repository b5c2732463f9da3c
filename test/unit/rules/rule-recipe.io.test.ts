// The recipe for a rule in CONTRIBUTING.md, followed in a copy of the tree: one file, and its line in the list.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

const rule = `// secrets.prefix: the text that the name of each Secret begins with.
import { nameOf, type KubeObject } from '../base/metadata.ts';
import { text } from '../schema/schema.ts';
import { everyOperation, ruleForm } from './rule.ts';

export const prefix = ruleForm({
  id: 'secrets.prefix',
  judges: 'secrets',
  field: text({ description: 'What each name begins with.', maxLength: 9 }),
  operations: everyOperation,
  compile(start) {
    const compared = (secret: KubeObject) => ({ path: 'metadata.name', found: nameOf(secret), accepted: start });
    return {
      shape: 'state',
      graced: true,
      judge: (secret) =>
        nameOf(secret).startsWith(start) ? [] : [{ ...compared(secret), identity: nameOf(secret) }],
      compared: (secret) => [compared(secret)],
    };
  },
  examples: (start) => ({ writes: [{ title: 'with the prefix', object: { metadata: { name: start } } }] }),
});
`;

const policy = `apiVersion: reeve.dev/v1alpha1
kind: NamespacePolicy
metadata: { name: p }
spec: { secrets: { prefix: team- } }
`;

test('a rule in one file and in one line of the list is judged, is in the CRD, and has examples', () => {
  const copy = mkdtempSync(join(tmpdir(), 'reeve-recipe-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const each of ['src', 'package.json']) cpSync(join(root, each), join(copy, each), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'src/rules/secret-prefix.ts'), rule);
  const list = join(copy, 'src/rules/rules.ts');
  const lines = readFileSync(list, 'utf8')
    .replace('import { validations }', "import { prefix } from './secret-prefix.ts';\nimport { validations }")
    .replace('  maxBytes,\n', '  maxBytes,\n  prefix,\n');
  writeFileSync(list, lines);
  writeFileSync(join(copy, 'p.yaml'), policy);
  const node = (...args: readonly string[]) =>
    spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });

  const first = node('src/main.ts', 'test', '--init', 'p.yaml');
  expect(first).toMatchObject({ status: 0, stderr: 'tests/p.yaml: 3 tests written\n' });
  const suite = readFileSync(join(copy, 'tests/p.yaml'), 'utf8');
  expect(suite).toContain('creating a Secret in Namespace example is refused (secrets.prefix)');
  expect(suite).toContain('creating a Secret with the prefix in Namespace example is allowed');
  expect(node('src/main.ts', 'test', 'p.yaml', 'tests').stdout).toBe('3 tests in 1 suite: 3 passed\n');

  const crd = "import('./src/api/kinds.ts').then(({ kinds }) => console.log(JSON.stringify(kinds)))";
  expect(node('-e', crd).stdout).toContain('What each name begins with.');
});
