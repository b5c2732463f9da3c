// Reads files of certificates, keys or authorities in PEM, and survives any other file at the path.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { errorCode } from '../../base/error-code.ts';
import { X509Certificate } from 'node:crypto';

export type Reading<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Much more than a chain needs, and little enough for memory. */
const maxFileBytes = 1024 * 1024;

export async function readPemFile(path: string): Promise<Reading<string>> {
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

export function problem(text: string): Reading<never> {
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
