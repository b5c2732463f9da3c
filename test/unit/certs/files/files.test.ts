// Certificate files are private, whole, and never written over others.
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  certificateFileNames,
  existingCertificateFiles,
  writeCertificateFiles,
} from '../../../../src/certs/files/files.ts';
import type { IssuedCertificates } from '../../../../src/certs/issue/issue.ts';
import { makeTestFolder, makeTestIssuer } from './issuer.ts';

let first: IssuedCertificates;
let second: IssuedCertificates;

beforeAll(async () => {
  const issue = await makeTestIssuer();
  [first, second] = await Promise.all([issue(), issue()]);
});

async function contentsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(folder)).toSorted();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
}

function expectedContents(issued: IssuedCertificates): Readonly<Record<string, string>> {
  return {
    'ca.crt': issued.ca.certPem,
    'ca.key': issued.ca.keyPem,
    'tls.crt': issued.serving.certPem,
    'tls.key': issued.serving.keyPem,
  };
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

describe('writeCertificateFiles', () => {
  test('it writes four files and a folder that only their owner can read', async () => {
    await using temp = await makeTestFolder();
    const folder = join(temp.path, 'deep', 'certs');
    const outcome = await writeCertificateFiles(folder, first, false);
    expect(outcome).toEqual({
      kind: 'written',
      paths: certificateFileNames.map((name) => join(folder, name)),
    });
    expect(await contentsOf(folder)).toEqual(expectedContents(first));
    for (const name of certificateFileNames) expect(await modeOf(join(folder, name))).toBe('600');
    expect(await modeOf(folder)).toBe('700');
  });

  test('it leaves the mode and the other files of an existing folder alone', async () => {
    await using temp = await makeTestFolder();
    await chmod(temp.path, 0o755);
    await writeFile(join(temp.path, 'README.md'), 'read me');
    await writeCertificateFiles(temp.path, first, false);
    expect(await contentsOf(temp.path)).toEqual({ ...expectedContents(first), 'README.md': 'read me' });
    expect(await modeOf(temp.path)).toBe('755');
  });

  test.for(certificateFileNames)('it writes nothing if %s exists', async (name) => {
    await using temp = await makeTestFolder();
    await writeFile(join(temp.path, name), 'precious');
    const outcome = await writeCertificateFiles(temp.path, first, false);
    expect(outcome).toEqual({ kind: 'refused', existing: [join(temp.path, name)] });
    expect(await contentsOf(temp.path)).toEqual({ [name]: 'precious' });
  });

  test('it counts a dangling symlink as existing, and does not write through it', async () => {
    await using temp = await makeTestFolder();
    await symlink('nowhere', join(temp.path, 'tls.key'));
    expect(await existingCertificateFiles(temp.path)).toEqual([join(temp.path, 'tls.key')]);
    expect((await writeCertificateFiles(temp.path, first, false)).kind).toBe('refused');
    expect(await readlink(join(temp.path, 'tls.key'))).toBe('nowhere');
    expect((await writeCertificateFiles(temp.path, first, true)).kind).toBe('written');
    expect(await contentsOf(temp.path)).toEqual(expectedContents(first));
  });

  test('it replaces all four files with force, whatever their modes were', async () => {
    await using temp = await makeTestFolder();
    await writeCertificateFiles(temp.path, first, false);
    await chmod(join(temp.path, 'tls.key'), 0o644);
    expect((await writeCertificateFiles(temp.path, second, true)).kind).toBe('written');
    expect(await contentsOf(temp.path)).toEqual(expectedContents(second));
    for (const name of certificateFileNames) expect(await modeOf(join(temp.path, name))).toBe('600');
  });

  test('one of two concurrent writers wins, and their files are never mixed', async () => {
    await using temp = await makeTestFolder();
    const outcomes = await Promise.all(
      [first, second].map((issued) => writeCertificateFiles(temp.path, issued, false)),
    );
    const winners = [first, second].filter((_, index) => outcomes[index]?.kind === 'written');
    expect(outcomes.filter((outcome) => outcome.kind === 'failed')).toEqual([]);
    expect(winners).toHaveLength(1);
    expect(await contentsOf(temp.path)).toEqual(winners.map(expectedContents)[0]);
  });

  test('it reports why it cannot write, and leaves no files behind', async () => {
    await using temp = await makeTestFolder();
    const file = join(temp.path, 'file');
    await writeFile(file, '');
    const problem = (folder: string, code: string): object => ({
      kind: 'failed',
      problem: `cannot write certificates into ${folder} (${code})`,
    });
    expect(await writeCertificateFiles(file, first, false)).toEqual(problem(file, 'EEXIST'));
    const below = join(file, 'certs');
    expect(await writeCertificateFiles(below, first, false)).toEqual(problem(below, 'ENOTDIR'));
    await mkdir(join(temp.path, 'ca.crt'));
    expect(await writeCertificateFiles(temp.path, first, true)).toEqual(problem(temp.path, 'EISDIR'));
    expect((await readdir(temp.path)).toSorted()).toEqual(['ca.crt', 'file']);
  });
});
