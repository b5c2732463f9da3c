// Prometheus and promtool for tests of metrics and alerts. Without them these tests are skipped, unless they are required.
import { describe } from 'vitest';
import { findDebianPrograms } from '../cluster/debian-program.ts';
import { runProgram } from './run-program.ts';

const { skipIf } = describe;
const found = await findDebianPrograms({ name: 'prometheus', programs: ['prometheus', 'promtool'] });
if (found.kind === 'none') {
  if (process.env['REEVE_CLUSTER_TESTS'] === 'required') throw new Error(found.reason);
  process.stderr.write(`NOT TESTED WITH PROMETHEUS: ${found.reason}\n`);
}

/** Groups tests that need Prometheus. */
export const describePrometheus = skipIf(found.kind === 'none');

/** Works only inside `describePrometheus`. */
export function prometheusProgram(name: 'prometheus' | 'promtool'): string {
  const path = found.kind === 'found' ? found.paths.get(name) : undefined;
  if (path === undefined) throw new Error(`${name} is missing`);
  return path;
}

export interface PromtoolOutput {
  readonly code: number | null;
  /** Standard output, then standard error. */
  readonly output: string;
}

export async function promtool(...args: readonly string[]): Promise<PromtoolOutput> {
  const { code, stdout, stderr } = await runProgram(prometheusProgram('promtool'), args);
  return { code, output: stdout + stderr };
}
