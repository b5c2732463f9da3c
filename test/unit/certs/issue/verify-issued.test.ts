// The last check before certificates are handed out finds each fault.
import { beforeAll, expect, test } from 'vitest';
import {
  type IssuedCertificates,
  assertAuthority,
  assertServing,
} from '../../../../src/certs/issue/issue.ts';
import { makeKeyPair, privateKeyPem } from '../../../../src/certs/issue/keys.ts';
import { servingNames } from '../../../../src/certs/issue/names.ts';
import { makeTestIssuer } from '../files/issuer.ts';

const names = servingNames('reeve-system', []);

function assertIssuedWell(issued: IssuedCertificates, asked = names): void {
  assertAuthority(issued.ca);
  assertServing(issued.serving, issued.ca, asked);
}

let good: IssuedCertificates;
let other: IssuedCertificates;
let foreignKey: string;

beforeAll(async () => {
  const issue = await makeTestIssuer();
  [good, other] = await Promise.all([issue(), issue({ namespace: 'other' })]);
  foreignKey = privateKeyPem((await makeKeyPair()).privateKey);
});

test('an issued pair passes', () => {
  expect(() => assertIssuedWell(good)).not.toThrow();
});

test('every defect is reported', () => {
  const faults: readonly (readonly [IssuedCertificates, string])[] = [
    [{ ...good, ca: other.ca }, 'the authority issued the server'],
    [{ ...good, ca: good.serving }, 'the authority is one'],
    [{ ...good, serving: good.ca }, 'the server is no authority'],
    [{ ...good, ca: { ...good.ca, keyPem: foreignKey } }, 'the key of the authority is its own'],
    [{ ...good, serving: { ...good.serving, keyPem: foreignKey } }, 'the key of the server is its own'],
    [other, 'the server has its DNS names'],
  ];
  for (const [issued, fault] of faults) expect(() => assertIssuedWell(issued)).toThrow(fault);
});

test('a missing address is reported', () => {
  expect(() => assertIssuedWell(good, { ...names, ips: ['10.0.0.1'] })).toThrow(
    'the server has its addresses',
  );
});
