// Keys on the curve P-256, and signatures with them, made by OpenSSL on a thread of its own so that no request waits.
import { createPrivateKey, generateKeyPair, sign, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { ServingNames } from './names.ts';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const generate = promisify(generateKeyPair);

/** With P-256 a handshake costs the server a tenth of one with RSA of the same strength. */
export async function makeKeyPair(): Promise<KeyPair> {
  return generate('ec', { namedCurve: 'prime256v1' });
}

/** Returns the signature `ecdsa-with-SHA256` in DER. */
export function signSha256(content: Buffer, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', content, key, (error, signature) => {
      if (error) reject(error);
      else resolve(signature);
    });
  });
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns undefined for an invalid key. The error of the library is dropped, because it may quote the key. */
export function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    return undefined;
  }
}

/** The SubjectPublicKeyInfo of a key, in DER: algorithm, curve and point. */
export function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

// The X.509 extensions of our two kinds of certificate, as the data that node-forge encodes.

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
