// The commands of a document with the output that it shows: finds them, runs them as a reader does, and compares.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { blocksOf } from '../samples/markdown.ts';
import { eventually } from './eventually.ts';
import { kubectlEnvironment } from './kubectl.ts';
import { until } from './until.ts';

const root = join(import.meta.dirname, '..', '..');

export interface Step {
  readonly command: string;
  readonly shown: string;
}

/** Where a reader types: the current folder, and a folder with more programs. */
export interface ShellPlace {
  readonly folder: string;
  readonly programs?: string;
}

/**
 * A command that only reads is repeated until it prints the output shown. A command that writes runs once, and Reeve
 * has seen its writes before the next command runs.
 */
export async function expectShown(
  { command, shown }: Step,
  kubeconfig: string,
  place?: ShellPlace,
): Promise<void> {
  const run = (): string => comparable(runInShell(command, kubeconfig, place));
  if (readsOnly(command)) return await eventually(run).toBe(comparable(shown));
  expect(run()).toBe(comparable(shown));
  await reeveHasSeenAll(kubeconfig);
}

function readsOnly(command: string): boolean {
  return /^(kubectl (get|auth)|reeve (plan|report|explain))[^\n]*$/.test(command);
}

const columns = [
  '{.kind}',
  '{.metadata.generation}',
  '{.status.observedGeneration}',
  '{.status.phase}',
  '{.status.conditions[?(@.type=="reeve.dev/Ready")].status}',
  '{.metadata.name}',
];
/** A provider whose status is as new as its spec, and a namespace with a condition of Reeve, or one that never gets it. */
const isSeen =
  /^(NamespacePolicy|SecretShare),(\d+),\2,|^Namespace,.*,(True|False|Unknown),|^Namespace,.*,(kube|reeve)-|,Terminating,/;

/** Waits until Reeve has seen every policy, share and namespace. A person types slower than Reeve works. A test does not. */
export async function reeveHasSeenAll(kubeconfig: string): Promise<void> {
  let last: readonly string[] = [];
  await until(
    () => {
      last = notYetSeen(kubeconfig);
      return Promise.resolve(last.length === 0);
    },
    () => `Reeve has seen ${last.join(' ')}`,
  );
}

/** Returns the policies, shares and namespaces whose last write Reeve has not seen. */
function notYetSeen(kubeconfig: string): readonly string[] {
  const template = `{range .items[*]}${columns.join(',')}{"\\n"}{end}`;
  const kinds = 'namespacepolicies,secretshares,namespaces';
  const lines = runInShell(`kubectl get ${kinds} -o jsonpath='${template}'`, kubeconfig).trim().split('\n');
  return lines.filter((line) => !line.includes('version difference') && !isSeen.test(line));
}

export function runInShell(
  command: string,
  kubeconfig: string,
  { folder, programs }: ShellPlace = { folder: root },
): string {
  const env = kubectlEnvironment(kubeconfig);
  const PATH = programs === undefined ? env['PATH'] : `${programs}:${env['PATH']}`;
  const options = { cwd: folder, env: { ...env, PATH }, encoding: 'utf8' } as const;
  // Merges both streams in the order of a terminal.
  return spawnSync('sh', ['-c', `exec 2>&1\n${command}`], options).stdout;
}

/**
 * Removes ages, which also change the width of columns, times, the address of the cluster, and the warning of an old
 * kubectl. Removes what a quota has in use: only a cluster with the quota controller says that, a moment later.
 */
export function comparable(output: string): string {
  return output
    .split('\n')
    .filter((line) => !line.includes('version difference'))
    .map((line) =>
      line
        .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replaceAll(/\b(?:\d+[dhms])+\b/g, 'AGE')
        .replaceAll(/https:\/\/\S+ \(the kubeconfig [^)]*\)|https:\/\/127\.0\.0\.1:\d+/g, 'CLUSTER')
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
