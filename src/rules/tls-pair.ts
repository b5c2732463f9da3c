// Reads the certificate and the private key of a kubernetes.io/tls Secret. Parser errors stay in this file.
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import type { SecretValue } from './secret-values.ts';

/** Enough for a certificate with a thousand names, and for a key of 16384 bits. */
const maxCertificateLength = 65_536;
const maxKeyLength = 16_384;

/** Returns the first certificate, which is the server's own. The others are its chain. */
export function readCertificate(value: SecretValue): X509Certificate | undefined {
  const block = pemBlock(
    value,
    /^-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/m,
    maxCertificateLength,
  );
  if (block === undefined) return undefined;
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}

/** Returns the private key, if it is of a kind that TLS uses and not encrypted. */
export function readPrivateKey(value: SecretValue): KeyObject | undefined {
  const block = pemBlock(
    value,
    /^-----BEGIN ([A-Z]+ )?PRIVATE KEY-----[^-]+-----END \1?PRIVATE KEY-----/m,
    maxKeyLength,
  );
  if (block === undefined || !isServingKey(block)) return undefined;
  try {
    return createPrivateKey(block);
  } catch {
    return undefined;
  }
}

function pemBlock(value: SecretValue, block: RegExp, maxLength: number): string | undefined {
  if (value.kind !== 'bytes') return undefined;
  const found = block.exec(value.bytes.toString('latin1'))?.[0];
  return found !== undefined && found.length <= maxLength ? found : undefined;
}

/** The object identifiers, in DER, of RSA, RSA-PSS, elliptic curves, Ed25519 and Ed448 (RFC 8017, 5480 and 8410). */
const servingAlgorithms = [
  '06092a864886f70d010101',
  '06092a864886f70d01010a',
  '06072a8648ce3d0201',
  '06032b6570',
  '06032b6571',
];

/**
 * Checks the kind before the key is parsed, because parsing some kinds computes for minutes: for DSA and
 * Diffie-Hellman the public key is derived from numbers of any size in the text.
 */
function isServingKey(pem: string): boolean {
  if (pem.startsWith('-----BEGIN RSA ') || pem.startsWith('-----BEGIN EC ')) return true;
  if (!pem.startsWith('-----BEGIN PRIVATE KEY-----')) return false;
  const algorithm = algorithmOf(Buffer.from(pem.split('-----')[2] ?? '', 'base64'));
  return algorithm !== undefined && servingAlgorithms.includes(algorithm);
}

/** Reads PrivateKeyInfo (RFC 5208): a sequence of the version, and of a sequence with the identifier. */
function algorithmOf(der: Buffer): string | undefined {
  const version = contentOf(der, 0, 0x30);
  if (version === undefined || der[version] !== 0x02 || der[version + 1] !== 0x01) return undefined;
  const identifier = contentOf(der, version + 3, 0x30);
  if (identifier === undefined || der[identifier] !== 0x06) return undefined;
  return der.toString('hex', identifier, identifier + 2 + (der[identifier + 1] ?? 0));
}

/** Returns the offset of the content of the element; undefined when its tag is another one. */
function contentOf(der: Buffer, start: number, tag: number): number | undefined {
  if (der[start] !== tag) return undefined;
  const length = der[start + 1] ?? 0;
  // For a length above 127, the low bits are the number of further length bytes.
  return length < 0x80 ? start + 2 : start + 2 + (length & 0x7f);
}
