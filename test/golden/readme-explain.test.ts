// README.md shows why a namespace has no Secret, in the words that `reeve explain` prints.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blocksOf } from '../samples/markdown.ts';
import { runCommand } from '../support/run-command.ts';

const blocks = blocksOf(readFileSync('README.md', 'utf8'));
const at = blocks.findIndex(({ text }) => text.startsWith('reeve explain '));

test('the samples of the sandbox give the answer that README.md shows for a namespace called shop', async () => {
  const args = (blocks[at]?.text ?? '').trim().split(' ').slice(1);
  const stdin = '{apiVersion: v1, kind: Namespace, metadata: {name: shop}}';
  const run = await runCommand([...args, '-f', 'manifests/samples/first-steps', '-f', '-'], {
    stdin,
    now: 'today',
  });
  expect(run.stdout).toBe(blocks[at + 1]?.text);
});
