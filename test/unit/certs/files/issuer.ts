// Issues certificates for the tests with one set of keys, because making keys is what takes the time.
import { renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueCertificates, type IssuedCertificates } from '../../../../src/certs/issue/issue.ts';
import { makeKeyPair } from '../../../../src/certs/issue/keys.ts';
import { parseServingPair } from '../../../../src/certs/files/serving-pair.ts';
import type { ServingPair } from '../../../../src/certs/files/serving-pair.ts';

type IssueRequest = Parameters<typeof issueCertificates>[0];

export const testNow = new Date('2026-06-01T12:00:00.500Z');

export type TestIssuer = (request?: Partial<IssueRequest>) => Promise<IssuedCertificates>;

export async function makeTestIssuer(): Promise<TestIssuer> {
  const keys = await makeKeyPair();
  return (request = {}) =>
    issueCertificates(
      { namespace: 'reeve-system', now: testNow, caLifetimeDays: 3650, leafLifetimeDays: 365, ...request },
      () => Promise.resolve(keys),
    );
}

export function pairOf({ serving }: IssuedCertificates, now = testNow): ServingPair {
  const reading = parseServingPair(
    serving.certPem,
    serving.keyPem,
    { cert: 'the certificate', key: 'the key' },
    now,
  );
  if (!reading.ok) throw new Error(reading.problem);
  return reading.value;
}

export interface TestFolder extends AsyncDisposable {
  readonly path: string;
  readonly cert: string;
  readonly key: string;
  /** Changes the files in one go, so that no more than one reading can find one of them new and the other old. */
  put(pair: { readonly cert?: string; readonly key?: string }): void;
}

export async function makeTestFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'reeve-certs-'));
  const cert = join(path, 'tls.crt');
  const key = join(path, 'tls.key');
  return {
    path,
    cert,
    key,
    put(pair) {
      if (pair.cert !== undefined) replaceFile(cert, pair.cert);
      if (pair.key !== undefined) replaceFile(key, pair.key);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}
