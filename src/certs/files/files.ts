// Writes the four files of an issued pair into a folder, all or none, and overwrites nothing without `force`.
import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../base/kube-error.ts';
import type { IssuedCertificates } from '../issue/issue.ts';

export const certificateFileNames = ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'] as const;
type CertificateFileName = (typeof certificateFileNames)[number];

type WriteOutcome =
  | { readonly kind: 'written'; readonly paths: readonly string[] }
  /** The files existed already, and nothing was written. */
  | { readonly kind: 'refused'; readonly existing: readonly string[] }
  | { readonly kind: 'failed'; readonly problem: string };

interface StagedFile {
  readonly temporary: string;
  readonly target: string;
  readonly content: string;
}

/** Counts a symlink, wherever it leads. */
export async function existingCertificateFiles(folder: string): Promise<readonly string[]> {
  const paths = certificateFileNames.map((name) => join(folder, name));
  const present = await Promise.all(paths.map(isPresent));
  return paths.filter((_, index) => present[index]);
}

export async function writeCertificateFiles(
  folder: string,
  issued: IssuedCertificates,
  force: boolean,
): Promise<WriteOutcome> {
  const existing = force ? [] : await existingCertificateFiles(folder);
  if (existing.length > 0) return { kind: 'refused', existing };
  const files = staged(folder, issued);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const file of files) await writeTemporary(file);
    if (force) await replaceAll(files);
    else await placeAll(files);
    return { kind: 'written', paths: files.map((file) => file.target) };
  } catch (error) {
    return await failure(folder, error);
  } finally {
    // The first error matters more than an error of this cleanup.
    await Promise.allSettled(files.map((file) => rm(file.temporary, { force: true })));
  }
}

function staged(folder: string, issued: IssuedCertificates): readonly StagedFile[] {
  const contents: Readonly<Record<CertificateFileName, string>> = {
    'ca.crt': issued.ca.certPem,
    'ca.key': issued.ca.keyPem,
    'tls.crt': issued.serving.certPem,
    'tls.key': issued.serving.keyPem,
  };
  const suffix = randomBytes(6).toString('hex');
  return certificateFileNames.map((name) => ({
    temporary: join(folder, `.${name}.${suffix}.tmp`),
    target: join(folder, name),
    content: contents[name],
  }));
}

async function isPresent(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    // Missing, or unreadable: then the write fails with a reason.
    return false;
  }
}

async function writeTemporary(file: StagedFile): Promise<void> {
  const handle = await open(file.temporary, 'wx', 0o600);
  try {
    await handle.writeFile(file.content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function replaceAll(files: readonly StagedFile[]): Promise<void> {
  for (const file of files) await rename(file.temporary, file.target);
}

/** Keeps two simultaneous commands from mixing their files: the second command removes the files that it placed. */
async function placeAll(files: readonly StagedFile[]): Promise<void> {
  const placed: string[] = [];
  try {
    for (const file of files) {
      await placeNew(file);
      placed.push(file.target);
    }
  } catch (error) {
    await Promise.allSettled(placed.map((path) => rm(path, { force: true })));
    throw error;
  }
}

/** `link` refuses a target that exists, which `rename` would replace; not every file system has it. */
async function placeNew(file: StagedFile): Promise<void> {
  try {
    await link(file.temporary, file.target);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errorCode(error) ?? '')) throw error;
    await rename(file.temporary, file.target);
  }
}

async function failure(folder: string, error: unknown): Promise<WriteOutcome> {
  const existing = errorCode(error) === 'EEXIST' ? await existingCertificateFiles(folder) : [];
  if (existing.length > 0) return { kind: 'refused', existing };
  return {
    kind: 'failed',
    problem: `cannot write certificates into ${folder} (${errorCode(error) ?? 'unknown error'})`,
  };
}
