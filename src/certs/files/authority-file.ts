// Reads the certificate authority that API servers are to check the webhook by.
import { X509Certificate } from 'node:crypto';
import { problem, readPemFile, type Reading } from './pem-file.ts';

const block = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** One certificate or several, all of which must be authorities; nothing else of the file is taken over. */
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
