// Proves with node:crypto that freshly issued certificates are what clients will accept.
import { X509Certificate } from 'node:crypto';
import type { PemPair } from './issued.ts';
import { parsePrivateKey } from './keys.ts';
import type { ServingNames } from './names.ts';

/** Throws when a check fails, which only a fault of our own or of node-forge can bring about. */
export function assertAuthority(authority: PemPair): void {
  const ca = new X509Certificate(authority.certPem);
  assertAll({
    'the authority is one': ca.ca,
    'the authority issued itself': ca.checkIssued(ca) && ca.verify(ca.publicKey),
    'the key of the authority is its own': isKeyOf(ca, authority.keyPem),
  });
}

/** As `assertAuthority`. */
export function assertServing(pair: PemPair, authority: PemPair, names: ServingNames): void {
  const ca = new X509Certificate(authority.certPem);
  const serving = new X509Certificate(pair.certPem);
  assertAll({
    'the server is no authority': !serving.ca,
    'the authority issued the server': serving.checkIssued(ca) && serving.verify(ca.publicKey),
    'the key of the server is its own': isKeyOf(serving, pair.keyPem),
    'the server has its DNS names': names.dns.every((name) => serving.checkHost(name) !== undefined),
    'the server has its addresses': names.ips.every((ip) => serving.checkIP(ip) !== undefined),
    'the serial numbers differ': ca.serialNumber !== serving.serialNumber,
  });
}

function isKeyOf(certificate: X509Certificate, keyPem: string): boolean {
  const key = parsePrivateKey(keyPem);
  return key !== undefined && certificate.checkPrivateKey(key);
}

function assertAll(checks: Readonly<Record<string, boolean>>): void {
  const failed = Object.keys(checks).filter((name) => checks[name] !== true);
  if (failed.length > 0) throw new Error(`an issued certificate fails its own check: ${failed.join(', ')}`);
}
