// Before the contract tests: builds the program that uses client-go, if Go is installed.
import type { TestProject } from 'vitest/node';
import { findClientProgram } from '../cluster/binary.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the program. Undefined without Go. */
    goClient: string | undefined;
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide('goClient', await findClientProgram());
}
