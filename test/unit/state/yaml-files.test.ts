// Which files of a path are read, in which order, and what cannot be read.
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readYamlFiles } from '../../../src/state/yaml-files.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), `# ${name}`);
  }
}

async function read(path = '') {
  const { files, problems } = await readYamlFiles(join(folder, path));
  return {
    files: files.map(({ file }) => relative(folder, file)),
    problems: problems.map(
      ({ file, line, column, message }) => `${relative(folder, file)}:${line}:${column} ${message}`,
    ),
  };
}

describe('readYamlFiles', () => {
  it('the reader reads YAML and JSON files in the order of their names, subfolders included', async () => {
    await write('b.yaml', 'a.yml', 'c/z.json', 'c/d/e.YAML', 'notes.txt', 'yaml', 'Z.yaml');
    expect(await read()).toEqual({
      files: ['Z.yaml', 'a.yml', 'b.yaml', 'c/d/e.YAML', 'c/z.json'],
      problems: [],
    });
  });

  it('the reader reads a file that is given by path, whatever its extension', async () => {
    await write('policy.txt');
    expect(await read('policy.txt')).toEqual({ files: ['policy.txt'], problems: [] });
  });

  it('the reader reads nothing from an empty folder', async () => {
    expect(await read()).toEqual({ files: [], problems: [] });
  });

  it('the reader skips hidden files and folders', async () => {
    await write('.hidden.yaml', '.git/config.yaml', 'a.yaml');
    expect((await read()).files).toEqual(['a.yaml']);
  });

  it('the reader reads a mounted ConfigMap once', async () => {
    await write('..2026_01_01/policy.yaml');
    await symlink('..2026_01_01', join(folder, '..data'));
    await symlink('..data/policy.yaml', join(folder, 'policy.yaml'));
    expect((await read()).files).toEqual(['policy.yaml']);
  });

  it('the reader follows links to folders, and reads each folder once', async () => {
    await write('real/a.yaml');
    await symlink('real', join(folder, 'alias'));
    await symlink('..', join(folder, 'real/up'));
    expect((await read()).files).toEqual(['alias/a.yaml']);
  });

  it.each<readonly [string, (path: string) => Promise<void>, string]>([
    [
      'a link that leads nowhere',
      (path) => symlink('nowhere', path),
      'the file cannot be read: there is no such file or folder',
    ],
    [
      'a link to itself',
      (path) => symlink('bad.yaml', path),
      'the file cannot be read: its links go round in a circle',
    ],
    [
      'bytes that are no text',
      (path) => writeFile(path, Buffer.from([0x61, 0xff, 0xfe])),
      'this is not text in UTF-8',
    ],
    [
      'a file that is too long',
      (path) => writeFile(path, '').then(() => truncate(path, 33 * 1024 * 1024)),
      'the file is longer than 32 MiB',
    ],
  ])('the reader reports %s and reads the rest', async (_title, make, message) => {
    await write('a.yaml', 'z.yaml');
    await make(join(folder, 'bad.yaml'));
    expect(await read()).toEqual({ files: ['a.yaml', 'z.yaml'], problems: [`bad.yaml:1:1 ${message}`] });
  });

  it('the reader does not wait for a device', async () => {
    await symlink('/dev/zero', join(folder, 'zero.yaml'));
    expect((await read()).problems).toEqual(['zero.yaml:1:1 this is not a file']);
  });

  it.each([
    ['missing', 'missing cannot be read: there is no such file or folder'],
    ['a.yaml/below', 'a.yaml/below cannot be read: a part of the path is not a folder'],
  ])('the reader throws for a missing path: %s', async (path, message) => {
    await write('a.yaml');
    await expect(readYamlFiles(join(folder, path))).rejects.toThrow(message);
  });
});
