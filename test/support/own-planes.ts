// Before tests that start control planes of their own: tells them whether there can be any.
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
