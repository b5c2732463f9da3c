// Keys on the curve P-256, and signatures with them, made by OpenSSL on a thread of its own so that no request waits.
import { createPrivateKey, generateKeyPair, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

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
