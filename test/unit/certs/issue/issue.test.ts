// Issued certificates hold what clients ask for, judged by node:crypto and by their bytes.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { issueCertificates } from '../../../../src/certs/issue/issue.ts';
import type { IssuedCertificates } from '../../../../src/certs/issue/issue.ts';
import { makeTestIssuer, testNow } from '../files/issuer.ts';
import type { TestIssuer } from '../files/issuer.ts';

let issue: TestIssuer;
let issued: IssuedCertificates;
let ca: X509Certificate;
let serving: X509Certificate;

beforeAll(async () => {
  issue = await makeTestIssuer();
  issued = await issueCertificates({
    namespace: 'reeve-system',
    now: testNow,
    caLifetimeDays: 3650,
    leafLifetimeDays: 365,
  });
  ca = new X509Certificate(issued.ca.certPem);
  serving = new X509Certificate(issued.serving.certPem);
});

/** Returns true if the certificate has an extension with exactly this encoding: OID, criticality and value in hex. */
function holds(certificate: X509Certificate, hex: string): boolean {
  return certificate.raw.toString('hex').includes(hex.replaceAll(' ', ''));
}

test('the authority and the server have different keys on the curve P-256', () => {
  const keys = [issued.ca, issued.serving].map(({ keyPem }) => createPrivateKey(keyPem));
  for (const key of keys) {
    expect(key.asymmetricKeyType).toBe('ec');
    expect(key.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  }
  expect(issued.ca.keyPem).not.toBe(issued.serving.keyPem);
  expect(issued.ca.keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
});

test('each key belongs to its certificate, and the authority signed both certificates', () => {
  expect(ca.checkPrivateKey(createPrivateKey(issued.ca.keyPem))).toBe(true);
  expect(serving.checkPrivateKey(createPrivateKey(issued.serving.keyPem))).toBe(true);
  expect(serving.checkIssued(ca) && serving.verify(ca.publicKey) && ca.verify(ca.publicKey)).toBe(true);
});

test('the authority may sign certificates of servers only', () => {
  expect(ca.ca).toBe(true);
  // basicConstraints, critical: cA TRUE, pathLen 0; keyUsage, critical: keyCertSign | cRLSign
  expect(holds(ca, '0603551d13 0101ff 0408 3006 0101ff 020100')).toBe(true);
  expect(holds(ca, '0603551d0f 0101ff 0404 03020106')).toBe(true);
});

test('the name of an authority is unique and a valid PrintableString', async () => {
  const others = await Promise.all(Array.from({ length: 5 }, () => issue()));
  const subjects = [issued, ...others].map((each) => new X509Certificate(each.ca.certPem).subject);
  expect(new Set(subjects).size).toBe(6);
  for (const subject of subjects) expect(subject).toMatch(/^O=Reeve\nCN=Reeve CA [0-9a-f]{16}$/);
});

describe('the serving certificate', () => {
  test('the certificate is valid for the names of the Service and of this machine', () => {
    expect(serving.subjectAltName).toBe(
      [
        'DNS:reeve-webhook',
        'DNS:reeve-webhook.reeve-system',
        'DNS:reeve-webhook.reeve-system.svc',
        'DNS:reeve-webhook.reeve-system.svc.cluster.local',
        'DNS:localhost',
        'IP Address:127.0.0.1',
        'IP Address:0:0:0:0:0:0:0:1',
      ].join(', '),
    );
    expect(serving.checkHost('reeve-webhook.other.svc')).toBeUndefined();
  });

  test('the certificate is for servers and cannot sign', () => {
    expect(serving.ca).toBe(false);
    expect(serving.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    // basicConstraints, critical, empty; keyUsage, critical: digitalSignature
    expect(holds(serving, '0603551d13 0101ff 0402 3000')).toBe(true);
    expect(holds(serving, '0603551d0f 0101ff 0404 03020780')).toBe(true);
  });

  test('the certificate has the key identifiers of the authority and of itself', () => {
    const identifier = /0603551d0e04160414([0-9a-f]{40})/;
    const [, authorityKey = ''] = identifier.exec(ca.raw.toString('hex')) ?? [];
    const [, ownKey = ''] = identifier.exec(serving.raw.toString('hex')) ?? [];
    expect(authorityKey).toHaveLength(40);
    expect(ownKey).toHaveLength(40);
    expect(ownKey).not.toBe(authorityKey);
    expect(holds(serving, `0603551d23 0418 3016 8014 ${authorityKey}`)).toBe(true);
  });

  test('more names and a namespace of maximum length are accepted', async () => {
    const namespace = 'n'.repeat(63);
    const { serving: pair } = await issue({ namespace, extraNames: ['reeve.example.com', 'fd00::7'] });
    const certificate = new X509Certificate(pair.certPem);
    expect(certificate.checkHost('reeve.example.com')).toBe('reeve.example.com');
    expect(certificate.checkIP('fd00::7')).toBe('fd00::7');
    expect(certificate.checkHost(`reeve-webhook.${namespace}.svc`)).toBe(`reeve-webhook.${namespace}.svc`);
    expect(certificate.subject).toBe('O=Reeve\nCN=reeve-webhook');
  });
});

describe('both certificates', () => {
  test('both signatures use SHA-256, and both algorithm fields have no parameters', () => {
    for (const certificate of [ca, serving]) {
      expect(certificate.signatureAlgorithm).toBe('ecdsa-with-SHA256');
      const [, ...places] = certificate.raw.toString('hex').split('300a06082a8648ce3d040302');
      expect(places).toHaveLength(2);
    }
  });

  test('certificates begin one hour before their issue and last as long as requested', () => {
    for (const certificate of [ca, serving]) {
      expect(certificate.validFromDate).toEqual(new Date('2026-06-01T11:00:00Z'));
    }
    expect(serving.validToDate).toEqual(new Date('2027-06-01T12:00:00Z'));
    expect(ca.validToDate).toEqual(new Date('2036-05-29T12:00:00Z'));
  });

  test('the serving certificate never outlives the authority, also beyond 2050', async () => {
    const short = await issue({ caLifetimeDays: 10, leafLifetimeDays: 365 });
    const long = await issue({ caLifetimeDays: 36_500, leafLifetimeDays: 36_500 });
    const end = (pem: string): Date => new X509Certificate(pem).validToDate;
    expect(end(short.serving.certPem)).toEqual(new Date('2026-06-11T12:00:00Z'));
    expect(end(long.serving.certPem)).toEqual(new Date('2126-05-08T12:00:00Z'));
    expect(end(long.ca.certPem)).toEqual(new Date('2126-05-08T12:00:00Z'));
  });

  test('serial numbers are positive and never repeat', async () => {
    const all = await Promise.all(Array.from({ length: 40 }, () => issue()));
    const certificates = all
      .flatMap((each) => [each.ca, each.serving])
      .map((each) => new X509Certificate(each.certPem));
    for (const certificate of certificates) {
      expect(certificate.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
      // [0] version, then an INTEGER of 16 bytes whose first byte is neither 00 nor negative
      expect(certificate.raw.toString('hex')).toMatch(/^3082....3082....a0030201020210[4-7]/);
    }
    expect(new Set(certificates.map((each) => each.serialNumber)).size).toBe(80);
  });
});

test.for([0, -1, 1.5, Number.NaN, 36_501, Number.POSITIVE_INFINITY])(
  'a lifetime of %d days is refused',
  async (days) => {
    await expect(issue({ caLifetimeDays: days })).rejects.toThrow(RangeError);
    await expect(issue({ leafLifetimeDays: days })).rejects.toThrow(RangeError);
  },
);

test('an invalid name is refused', async () => {
  await expect(issue({ namespace: 'No Namespace' })).rejects.toThrow(RangeError);
  await expect(issue({ extraNames: ['a_b'] })).rejects.toThrow(RangeError);
});
