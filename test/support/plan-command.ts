// Runs `reeve plan` in this process, on files or on objects.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiVersion as reeve } from '../../src/schema/names.ts';
import type { StringMap } from '../../src/base/metadata.ts';
import { readCommand } from '../../src/cli/command-line.ts';
import { runPlan } from '../../src/cli/commands/plan.ts';

export const assumed = 'the files have no Deployment of Reeve, so its default flags count\n';

export async function plan(args: readonly string[], { stdin = '', isColored = false } = {}) {
  const command = await readCommand(['plan', ...args], {});
  if (command.kind !== 'plan') throw new Error(JSON.stringify(command));
  const printed = { stdout: '', stderr: '' };
  const code = await runPlan(command.settings, command.environment, {
    stdout: (text) => (printed.stdout += text),
    stderr: (text) => (printed.stderr += text),
    stdin: () => Promise.resolve(stdin),
    clock: { now: () => new Date('2026-11-23T08:00:00Z') },
    isColored,
  });
  return { code, ...printed };
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
