// The X.509 extensions of our two kinds of certificate, as the data that node-forge encodes.
import type { ServingNames } from './names.ts';

export interface Extension {
  readonly name: string;
  readonly critical?: boolean;
  readonly [field: string]: unknown;
}

// The tags of GeneralName: RFC 5280, section 4.2.1.6.
const dnsName = 2;
const ipAddress = 7;

/** A path length of 0: this authority signs servers and never another authority. */
export function authorityExtensions(keyIdentifier: Buffer): Extension[] {
  return [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    subjectKey(keyIdentifier),
  ];
}

/** Go looks at the alternative names only, never at the common name: https://go.dev/doc/go1.15#commonname */
export function servingExtensions(
  names: ServingNames,
  keyIdentifier: Buffer,
  authorityKeyIdentifier: Buffer,
): Extension[] {
  const altNames = [
    ...names.dns.map((value) => ({ type: dnsName, value })),
    ...names.ips.map((ip) => ({ type: ipAddress, ip })),
  ];
  return [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames },
    subjectKey(keyIdentifier),
    { name: 'authorityKeyIdentifier', keyIdentifier: authorityKeyIdentifier.toString('latin1') },
  ];
}

/** In DER: left to itself, node-forge would take the identifier of an RSA key. */
function subjectKey(identifier: Buffer): Extension {
  const octetString = Buffer.from([0x04, identifier.length]);
  return {
    name: 'subjectKeyIdentifier',
    value: Buffer.concat([octetString, identifier]).toString('latin1'),
  };
}
