// Starts a short soak when a test run begins; it goes on beside all other tests, and the last of them looks at its report.
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { findBinary } from '../cluster/binary.ts';
import { Component } from '../cluster/component.ts';
import { Guard } from '../cluster/guard.ts';
import type { ProcessIdentity } from '../cluster/process-identity.ts';

/** Low enough to leave the machine to the others. */
const load = ['--minutes=3', '--rate=6'];

export type ProvidedSoak =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'running';
      readonly process: ProcessIdentity;
      /** Written before the process ends. */
      readonly report: string;
      readonly log: string;
    };

declare module 'vitest' {
  interface ProvidedContext {
    soak: ProvidedSoak;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('soak', { kind: 'none' });
  if ((await findBinary()).kind === 'none') return () => Promise.resolve();
  const folder = await mkdtemp(join(tmpdir(), 'reeve-soak-report-'));
  const report = join(folder, 'report.json');
  const args = [join(import.meta.dirname, 'main.ts'), ...load, `--json=${report}`];
  const component = new Component({ name: 'soak', program: process.execPath, args, cwd: folder }, folder);
  const guard = new Guard(folder);
  await component.start(guard, homedir());
  if (component.process !== undefined)
    project.provide('soak', {
      kind: 'running',
      process: component.process,
      report,
      log: join(folder, 'soak.log'),
    });
  return async () => {
    await component.stop();
    await guard.end();
    await rm(folder, { recursive: true, force: true });
  };
}
