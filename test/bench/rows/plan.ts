// The row of `reeve plan`: 500 policies on 500 namespaces, as a pull request in a repository of policies would run it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileCacheVariables } from '../../../build/compile-cache.ts';
import { imageNodeFlags } from '../../image/node-flags.ts';
import { policyFor } from '../bench-policies.ts';
import { inTurn, type BenchContext, type MeasuredRows, type Measurement } from '../row.ts';

/** So many policies, and so many namespaces: 1,000 documents. */
const count = 500;

const contentsOf = (index: number): string => `  contents:
    roleBindings:
    - name: team
      roleRef: {kind: ClusterRole, name: edit}
      subjects: [{kind: Group, name: team-${index}}]
`;

const namespaceOf = (index: number): string =>
  `apiVersion: v1\nkind: Namespace\nmetadata: {name: shop-${index}, labels: {team: t${index}, env: dev}, annotations: {contact: a}}\n---\n`;

async function measurePlan(context: BenchContext): Promise<MeasuredRows> {
  const main = await context.program();
  const env = { ...process.env, ...compileCacheVariables(join(main, '../..')) };
  const folders = writtenDocuments(context.folder);
  const args = [...imageNodeFlags(), main, 'plan', '-f', folders.policies, '--state', folders.state];
  const plan = () => Promise.resolve(secondsOf(args, env, `  ${count} create\n`));
  const nothing = () => Promise.resolve(secondsOf(['-e', '0'], env, ''));
  return { plan: await inTurn(context.rounds, plan, nothing) };
}

function writtenDocuments(folder: string) {
  const folders = { policies: join(folder, 'plan-policies'), state: join(folder, 'plan-state') };
  const indices = Array.from({ length: count }, (_, index) => index);
  const policies = indices.map((index) => policyFor(index).replace('---', `${contentsOf(index)}---`));
  for (const path of Object.values(folders)) mkdirSync(path);
  writeFileSync(join(folders.policies, 'policies.yaml'), policies.join(''));
  writeFileSync(join(folders.state, 'namespaces.yaml'), indices.map(namespaceOf).join(''));
  return folders;
}

/** Throws when the output lacks the text: a plan that failed would be a fast one. */
function secondsOf(args: readonly string[], env: NodeJS.ProcessEnv, expected: string): number {
  const began = performance.now();
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  const seconds = (performance.now() - began) / 1000;
  if (!stdout.includes(expected))
    throw new Error(`no "${expected.trim()}" in: ${stdout.slice(0, 500)} ${stderr}`);
  return seconds;
}

export const plan: Measurement = { rows: ['plan'], isQuick: true, measure: measurePlan };
