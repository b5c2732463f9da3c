// Runs `reeve plan` in this process, on files or on objects.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiVersion as reeve } from '../../src/schema/names.ts';
import type { StringMap } from '../../src/base/metadata.ts';
import { runCommand } from './run-command.ts';

export const assumed = 'the files have no Deployment of Reeve, so its default flags count\n';

export async function plan(args: readonly string[], { stdin = '', isColored = false } = {}) {
  return await runCommand(['plan', ...args], { stdin, isTerminal: isColored });
}

const yaml = (...objects: readonly object[]): string =>
  objects.map((each) => JSON.stringify(each)).join('\n---\n');
export const namespacePolicy = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: reeve,
  kind: 'NamespacePolicy',
  metadata: { name, ...metadata },
  spec,
});
export const aNamespace = (name: string, labels: StringMap = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

/** Plans objects on a state that has the other objects. */
export async function planObjects(
  files: readonly object[],
  state: readonly object[],
  ...args: readonly string[]
) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-plan-'));
  try {
    await writeFile(join(folder, 'state.yaml'), yaml(...state));
    const given = files.length === 0 ? [] : ['-f', '-'];
    return await plan([...given, '--state', join(folder, 'state.yaml'), ...args], { stdin: yaml(...files) });
  } finally {
    await rm(folder, { recursive: true });
  }
}
