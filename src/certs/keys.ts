// RSA keys, and signatures with them, made by OpenSSL on a thread of its own so that no request waits for them.
import { generateKeyPair, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

export interface RsaKeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const generate = promisify(generateKeyPair);

export async function makeRsaKeyPair(): Promise<RsaKeyPair> {
  return generate('rsa', { modulusLength: 2048, publicExponent: 0x1_00_01 });
}

/** RSASSA-PKCS1-v1_5 with SHA-256, the signature of `sha256WithRSAEncryption`. */
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

/** The numbers of a public key, in hexadecimal. */
export function rsaNumbers(key: KeyObject): { readonly modulus: string; readonly exponent: string } {
  const { n = '', e = '' } = key.export({ format: 'jwk' });
  return { modulus: hexadecimal(n), exponent: hexadecimal(e) };
}

function hexadecimal(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('hex');
}
