// README.md shows why a namespace has no Secret, in the words that `reeve explain` prints.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readCommand } from '../../src/cli/command-line.ts';
import { runTool } from '../../src/cli/tools.ts';
import { systemClock } from '../../src/base/clock.ts';
import { blocksOf } from '../samples/markdown.ts';

const blocks = blocksOf(readFileSync('README.md', 'utf8'));
const at = blocks.findIndex(({ text }) => text.startsWith('reeve explain '));

test('the samples of the sandbox give the answer that README.md shows for a namespace called shop', async () => {
  const args = (blocks[at]?.text ?? '').trim().split(' ').slice(1);
  const command = await readCommand([...args, '-f', 'manifests/samples/first-steps', '-f', '-'], {});
  if (command.kind !== 'explain') throw new Error(JSON.stringify(command));
  let printed = '';
  await runTool(command, {
    stdout: (text) => (printed += text),
    stderr: () => undefined,
    stdin: () => Promise.resolve('{apiVersion: v1, kind: Namespace, metadata: {name: shop}}'),
    ask: undefined,
    clock: systemClock,
    onSignal: () => undefined,
    isTerminal: false,
    showsProgress: false,
  });
  expect(printed).toBe(blocks[at + 1]?.text);
});
