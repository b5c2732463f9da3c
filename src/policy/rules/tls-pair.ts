// Reads the certificate and the private key of a kubernetes.io/tls Secret; no error of the parser leaves this file.
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { isServingKey } from './private-key-kind.ts';
import type { SecretValue } from './secret-values.ts';

/** Longer than what any server uses: a certificate of a thousand names, a key of 16384 bits. */
const longestCertificate = 65_536;
const longestKey = 16_384;

/** The first certificate, which is the server's own: the rest of the file is its chain. */
export function readCertificate(value: SecretValue): X509Certificate | undefined {
  const block = pemBlock(
    value,
    /^-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/m,
    longestCertificate,
  );
  if (block === undefined) return undefined;
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}

/** The private key, which must be usable as it is: of a kind that TLS knows, and not encrypted. */
export function readPrivateKey(value: SecretValue): KeyObject | undefined {
  const block = pemBlock(
    value,
    /^-----BEGIN ([A-Z]+ )?PRIVATE KEY-----[^-]+-----END \1?PRIVATE KEY-----/m,
    longestKey,
  );
  if (block === undefined || !isServingKey(block)) return undefined;
  try {
    return createPrivateKey(block);
  } catch {
    return undefined;
  }
}

function pemBlock(value: SecretValue, block: RegExp, longest: number): string | undefined {
  if (value.kind !== 'bytes') return undefined;
  const found = block.exec(value.bytes.toString('latin1'))?.[0];
  return found !== undefined && found.length <= longest ? found : undefined;
}
