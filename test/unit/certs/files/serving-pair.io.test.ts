// Every way in which two files can fail to be a serving pair has a problem in our words.
import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { IssuedCertificates } from '../../../../src/certs/issue/issue.ts';
import { parseServingPair, readServingPair } from '../../../../src/certs/files/serving-pair.ts';
import { makeTestFolder, makeTestIssuer, testNow } from './issuer.ts';

let issued: IssuedCertificates;

beforeAll(async () => {
  issued = await (await makeTestIssuer())();
});

function parse(cert: string, key: string, now = testNow): ReturnType<typeof parseServingPair> {
  return parseServingPair(cert, key, { cert: 'tls.crt', key: 'tls.key' }, now);
}

function keyOf(algorithm: 'ec' | 'ed25519' | 'rsa' | 'rsa-pss' | 'x25519'): string {
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  switch (algorithm) {
    case 'ec':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem).toString();
    case 'ed25519':
      return generateKeyPairSync('ed25519').privateKey.export(pem).toString();
    case 'x25519':
      return generateKeyPairSync('x25519').privateKey.export(pem).toString();
    case 'rsa':
      return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem).toString();
    case 'rsa-pss':
      return generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey.export(pem).toString();
    default:
      return algorithm satisfies never;
  }
}

describe('a good pair', () => {
  test('a good pair is read with its expiry and its fingerprint', async () => {
    await using folder = await makeTestFolder();
    const { certPem, keyPem } = issued.serving;
    folder.put({ cert: certPem, key: keyPem });
    expect(await readServingPair(folder.cert, folder.key, testNow)).toEqual({
      ok: true,
      value: {
        cert: certPem,
        key: keyPem,
        notAfter: new Date('2027-06-01T12:00:00Z'),
        fingerprint: new X509Certificate(certPem).fingerprint256,
      },
    });
  });

  test('a chain, text around it, Windows line ends and a SEC 1 key are accepted', () => {
    const { certPem, keyPem } = issued.serving;
    const sec1 = createPrivateKey(keyPem).export({ type: 'sec1', format: 'pem' }).toString();
    expect(parse(certPem + issued.ca.certPem, keyPem).ok).toBe(true);
    expect(parse(`subject=/O=Reeve\n${certPem}\n`, sec1).ok).toBe(true);
    expect(parse(certPem.replaceAll('\n', '\r\n'), keyPem.replaceAll('\n', '\r\n')).ok).toBe(true);
  });

  test('a certificate that begins in the future is accepted, because the clock of this machine may be slow', () => {
    expect(parse(issued.serving.certPem, issued.serving.keyPem, new Date('2020-01-01T00:00:00Z')).ok).toBe(
      true,
    );
  });
});

describe('a bad pair', () => {
  test.for([
    ['an empty certificate', () => ['', issued.serving.keyPem], 'tls.crt is not a PEM certificate'],
    [
      'a key as certificate',
      () => [issued.serving.keyPem, issued.serving.keyPem],
      'tls.crt is not a PEM certificate',
    ],
    [
      'half a certificate',
      () => [issued.serving.certPem.slice(0, 600), issued.serving.keyPem],
      'tls.crt is not a PEM certificate',
    ],
    [
      'rubbish in a certificate',
      () => ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', issued.serving.keyPem],
      'tls.crt is not a PEM certificate',
    ],
    ['an empty key', () => [issued.serving.certPem, ''], 'tls.key is not a PEM private key'],
    [
      'half a key',
      () => [issued.serving.certPem, issued.serving.keyPem.slice(0, 120)],
      'tls.key is not a PEM private key',
    ],
    [
      'a certificate as key',
      () => [issued.serving.certPem, issued.serving.certPem],
      'tls.key is not a PEM private key',
    ],
    [
      'a public key',
      () => [
        issued.serving.certPem,
        new X509Certificate(issued.serving.certPem).publicKey
          .export({ type: 'spki', format: 'pem' })
          .toString(),
      ],
      'tls.key is not a PEM private key',
    ],
    [
      'a broken chain',
      () => [
        `${issued.serving.certPem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
        issued.serving.keyPem,
      ],
      'the certificate in tls.crt and its key cannot be used for TLS',
    ],
    ...(['ec', 'ed25519', 'x25519', 'rsa', 'rsa-pss'] as const).map(
      (algorithm) =>
        [
          `a foreign key (${algorithm})`,
          () => [issued.serving.certPem, keyOf(algorithm)],
          'the key in tls.key does not belong to the certificate in tls.crt',
        ] as const,
    ),
  ] as const)('%s is reported as a problem in our words', ([, texts, problem]) => {
    const [cert = '', key = ''] = texts();
    expect(parse(cert, key)).toEqual({ ok: false, problem });
  });

  test.for(['pkcs8', 'sec1'] as const)('a key with a passphrase is a bad pair (%s)', (type) => {
    const key = createPrivateKey(issued.serving.keyPem)
      .export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'canary' })
      .toString();
    expect(parse(issued.serving.certPem, key)).toEqual({
      ok: false,
      problem: 'the private key in tls.key has a passphrase',
    });
  });

  test.for([
    ['2027-06-01T11:59:59.999Z', true],
    ['2027-06-01T12:00:00.000Z', false],
    ['2030-01-01T00:00:00.000Z', false],
  ] as const)('a certificate is valid or expired at %s', ([now, ok]) => {
    const reading = parse(issued.serving.certPem, issued.serving.keyPem, new Date(now));
    expect(reading.ok).toBe(ok);
    if (!reading.ok)
      expect(reading.problem).toBe('the certificate in tls.crt expired on 2027-06-01T12:00:00.000Z');
  });
});

describe('a file that cannot be read', () => {
  test('an unreadable file is reported with the reason, and the reader never blocks', async () => {
    await using folder = await makeTestFolder();
    folder.put({ cert: issued.serving.certPem, key: issued.serving.keyPem });
    const pipe = join(folder.path, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const read = async (cert: string, key: string): Promise<string | undefined> => {
      const reading = await readServingPair(cert, key, testNow);
      return reading.ok ? undefined : reading.problem;
    };
    expect(await read(folder.path, folder.key)).toBe(`cannot read file ${folder.path} (not a regular file)`);
    expect(await read(folder.cert, pipe)).toBe(`cannot read file ${pipe} (not a regular file)`);
    expect(await read('/dev/zero', folder.key)).toBe('cannot read file /dev/zero (not a regular file)');
    await truncate(folder.key, 1024 * 1024 + 1);
    expect(await read(folder.cert, folder.key)).toBe(`cannot read file ${folder.key} (larger than 1 MiB)`);
    await rm(folder.key);
    expect(await read(folder.cert, folder.key)).toBe(`cannot read file ${folder.key} (ENOENT)`);
  });
});
