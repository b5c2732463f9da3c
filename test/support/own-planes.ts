// Before tests that start their own control planes: provides whether this machine can start any.
import type { TestProject } from 'vitest/node';
import { findBinary } from '../cluster/binary.ts';

export async function setup(project: TestProject): Promise<void> {
  const binary = await findBinary();
  project.provide(
    'cluster',
    binary.kind === 'none'
      ? { kind: 'none', reason: binary.reason }
      : { kind: 'running', planes: [], hasControllers: binary.kind === 'built' },
  );
}
