// Reads a serving certificate and its key, and judges whether a TLS server can use them.
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { parsePrivateKey } from '../issue/keys.ts';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { errorCode } from '../../base/kube-error.ts';

/** A certificate (with its chain, if it has one) and its key in PEM, known to work together. */
export interface ServingPair {
  readonly cert: string;
  readonly key: string;
  readonly notAfter: Date;
  /** SHA-256 of the certificate, in hexadecimal with colons. */
  readonly fingerprint: string;
}

/** Names of the two parts in a problem, usually their paths. */
interface PairNames {
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

// Reads files of certificates, keys or authorities in PEM, and survives any other file at the path.

type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Much more than a chain needs, and little enough for memory. */
const maxFileBytes = 1024 * 1024;

async function readPemFile(path: string): Promise<Reading<string>> {
  try {
    // Without O_NONBLOCK, opening a named pipe could wait for a writer forever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return problem(`cannot read file ${path} (not a regular file)`);
      if (stat.size > maxFileBytes) return problem(`cannot read file ${path} (larger than 1 MiB)`);
      return { ok: true, value: await handle.readFile('utf8') };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return problem(`cannot read file ${path} (${errorCode(error) ?? 'unknown error'})`);
  }
}

function problem(text: string): Reading<never> {
  return { ok: false, problem: text };
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Returns one or more certificates, all of them authorities, and drops any other text of the file. */
export async function readAuthority(path: string): Promise<Reading<string>> {
  const file = await readPemFile(path);
  if (!file.ok) return file;
  const blocks = file.value.match(block) ?? [];
  if (blocks.length > 0 && blocks.every(isAuthority)) return { ok: true, value: `${blocks.join('\n')}\n` };
  return problem(`${path} must hold certificates of authorities in PEM`);
}

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}
