// Before the tests of the contract: builds the program that uses client-go, where there is Go.
import type { TestProject } from 'vitest/node';
import { findClientProgram } from '../cluster/binary.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Its path. */
    goClient: string | undefined;
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide('goClient', await findClientProgram());
}
