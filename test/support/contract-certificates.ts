// Before the contract tests: creates one serving certificate for the sandboxes and webhooks that they start.
import type { TestProject } from 'vitest/node';
import { issueCertificates } from '../../src/certs/issue/issue.ts';

export interface ContractCertificates {
  readonly caPem: string;
  readonly serving: { readonly certPem: string; readonly keyPem: string };
}

declare module 'vitest' {
  interface ProvidedContext {
    contractCertificates: ContractCertificates;
  }
}

export async function setup(project: TestProject): Promise<void> {
  const { ca, serving } = await issueCertificates({
    namespace: 'reeve-system',
    now: new Date(),
    caLifetimeDays: 1,
    leafLifetimeDays: 1,
  });
  project.provide('contractCertificates', { caPem: ca.certPem, serving });
}
