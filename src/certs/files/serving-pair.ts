// Reads a serving certificate and its key, and judges whether a TLS server can use them.
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { parsePrivateKey } from '../issue/keys.ts';
import { problem, readPemFile, type Reading } from './pem-file.ts';

/** A certificate (with its chain, if it has one) and its key in PEM, known to work together. */
export interface ServingPair {
  readonly cert: string;
  readonly key: string;
  readonly notAfter: Date;
  /** SHA-256 of the certificate, in hexadecimal with colons. */
  readonly fingerprint: string;
}

/** Names of the two parts in a problem, usually their paths. */
export interface PairNames {
  readonly cert: string;
  readonly key: string;
}

export async function readServingPair(
  certPath: string,
  keyPath: string,
  now: Date = new Date(),
): Promise<Reading<ServingPair>> {
  const [cert, key] = await Promise.all([readPemFile(certPath), readPemFile(keyPath)]);
  if (!cert.ok) return cert;
  if (!key.ok) return key;
  return parseServingPair(cert.value, key.value, { cert: certPath, key: keyPath }, now);
}

/** Accepts a certificate that is not valid yet: the clock of this machine may be slow. */
export function parseServingPair(
  cert: string,
  key: string,
  names: PairNames,
  now: Date,
): Reading<ServingPair> {
  const certificate = parseCertificate(cert);
  if (certificate === undefined) return problem(`${names.cert} is not a PEM certificate`);
  const privateKey = parsePrivateKey(key);
  if (privateKey === undefined) return problem(keyProblem(key, names.key));
  if (!certificate.checkPrivateKey(privateKey)) {
    return problem(`the key in ${names.key} does not belong to the certificate in ${names.cert}`);
  }
  const notAfter = certificate.validToDate;
  if (notAfter <= now) {
    return problem(`the certificate in ${names.cert} expired on ${notAfter.toISOString()}`);
  }
  if (!isUsableForTls(cert, key)) {
    return problem(`the certificate in ${names.cert} and its key cannot be used for TLS`);
  }
  return { ok: true, value: { cert, key, notAfter, fingerprint: certificate.fingerprint256 } };
}

function parseCertificate(pem: string): X509Certificate | undefined {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) return undefined;
  try {
    return new X509Certificate(pem);
  } catch {
    // The message of the library may contain parts of the file.
    return undefined;
  }
}

function keyProblem(pem: string, name: string): string {
  const isEncrypted = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem);
  return isEncrypted ? `the private key in ${name} has a passphrase` : `${name} is not a PEM private key`;
}

/** The rest of the chain must parse too, and OpenSSL must accept the strength of the keys. */
function isUsableForTls(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
