// Before tests of intents: downloads the kinds of Kyverno, so that no test has to wait for them.
import type { TestProject } from 'vitest/node';
import { findKyvernoKinds } from '../cluster/kyverno/kyverno-kinds.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the CRD of Kyverno's Policy, as JSON. Undefined without Go. */
    kyvernoKinds: string | undefined;
  }
}

export async function setup(project: TestProject): Promise<void> {
  const path = await findKyvernoKinds(process.env, (text) => void process.stderr.write(text));
  project.provide('kyvernoKinds', path);
}
