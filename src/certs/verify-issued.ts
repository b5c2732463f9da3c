// Proves with node:crypto that freshly issued certificates are what clients will accept.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { IssuedCertificates } from './issued.ts';
import type { ServingNames } from './names.ts';

/** Throws when a check fails, which only a fault of our own or of node-forge can bring about. */
export function assertIssuedWell(issued: IssuedCertificates, names: ServingNames): void {
  const ca = new X509Certificate(issued.ca.certPem);
  const serving = new X509Certificate(issued.serving.certPem);
  const checks: Readonly<Record<string, boolean>> = {
    'the authority is one': ca.ca,
    'the authority issued itself': ca.checkIssued(ca) && ca.verify(ca.publicKey),
    'the key of the authority is its own': ca.checkPrivateKey(createPrivateKey(issued.ca.keyPem)),
    'the server is no authority': !serving.ca,
    'the authority issued the server': serving.checkIssued(ca) && serving.verify(ca.publicKey),
    'the key of the server is its own': serving.checkPrivateKey(createPrivateKey(issued.serving.keyPem)),
    'the server has its DNS names': names.dns.every((name) => serving.checkHost(name) !== undefined),
    'the server has its addresses': names.ips.every((ip) => serving.checkIP(ip) !== undefined),
    'the serial numbers differ': ca.serialNumber !== serving.serialNumber,
  };
  const failed = Object.keys(checks).filter((name) => checks[name] !== true);
  if (failed.length > 0) throw new Error(`an issued certificate fails its own check: ${failed.join(', ')}`);
}
