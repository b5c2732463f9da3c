// The commands of a document with the output that it shows: finds them, runs them as a reader does, and compares.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { blocksOf } from '../samples/markdown.ts';
import { eventually } from './eventually.ts';
import { kubectlEnvironment } from './kubectl.ts';

const root = join(import.meta.dirname, '..', '..');

export interface Step {
  readonly command: string;
  readonly shown: string;
}

/** A command that only reads is repeated until it prints the output shown. A command that writes runs once. */
export async function expectShown(step: Step, kubeconfig: string): Promise<void> {
  const { command, shown } = step;
  const run = (): string => comparable(runInShell(command, kubeconfig));
  if (readsOnly(step)) await eventually(run).toBe(comparable(shown));
  else expect(run()).toBe(comparable(shown));
}

export function readsOnly({ command }: Step): boolean {
  return /^kubectl (get|auth)[^\n]*$/.test(command);
}

export function runInShell(command: string, kubeconfig: string): string {
  const env = kubectlEnvironment(kubeconfig);
  // Merges both streams in the order of a terminal.
  return spawnSync('sh', ['-c', `exec 2>&1\n${command}`], { cwd: root, env, encoding: 'utf8' }).stdout;
}

/**
 * Removes ages, which also change the width of columns, times, and the warning of an old kubectl. Removes what a quota has in use:
 * only a cluster with the quota controller says that, a moment later.
 */
export function comparable(output: string): string {
  return output
    .split('\n')
    .filter((line) => !line.includes('version difference'))
    .map((line) =>
      line
        .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replaceAll(/\b\d+[smh]\b/g, 'AGE')
        .replaceAll(/\bpods: \d+\/\d+ +/g, '')
        .replaceAll(/ +/g, ' ')
        .trim(),
    )
    .join('\n')
    .trim();
}

/** Returns the shell blocks that are followed by their output. */
export function stepsOf(page: string): readonly Step[] {
  const blocks = blocksOf(page);
  return blocks.flatMap(({ language, text }, index) => {
    const output = blocks[index + 1];
    return language === 'sh' && text.startsWith('kubectl ') && output?.language === 'text'
      ? [{ command: text.trimEnd(), shown: output.text }]
      : [];
  });
}
