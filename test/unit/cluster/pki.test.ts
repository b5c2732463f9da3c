// The keys of a control plane are what TLS and the API server accept.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeKeys, userCertificate } from '../../cluster/pki.ts';
import type { Keys } from '../../cluster/pki.ts';

describe('makeKeys', () => {
  let keys: Keys;
  let authority: X509Certificate;
  beforeAll(async () => {
    keys = await makeKeys();
    authority = new X509Certificate(keys.authority.certPem);
  });

  test('makeKeys makes an authority that signed itself', () => {
    expect(authority.ca).toBe(true);
    expect(authority.verify(authority.publicKey)).toBe(true);
  });

  test.for(['localhost', 'kubernetes.default.svc'])('makeKeys makes a server called %s', (name) => {
    const server = new X509Certificate(keys.server.certPem);
    expect(server.checkIssued(authority) && server.verify(authority.publicKey)).toBe(true);
    expect(server.checkPrivateKey(createPrivateKey(keys.server.keyPem))).toBe(true);
    expect(server.checkHost(name)).toBe(name);
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
  });

  test('the certificates of makeKeys last for 30 days', () => {
    const days = (authority.validToDate.getTime() - authority.validFromDate.getTime()) / 86_400_000;
    expect(Math.floor(days)).toBe(30);
  });

  test.for([
    ['jane', []],
    ['jané@example.com', ['dev', 'reeve:break-glass']],
    ['system:kube-controller-manager', ['system:masters']],
  ] as const)('makeKeys signs the user %s of %o', ([user, groups]) => {
    const pem = userCertificate(keys.authority, keys.userKeyPem, user, groups);
    const certificate = new X509Certificate(pem);
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(keys.userKeyPem))).toBe(true);
    const { CN, O } = certificate.toLegacyObject().subject;
    expect(CN).toBe(user);
    expect([O ?? []].flat()).toEqual(groups);
  });
});
