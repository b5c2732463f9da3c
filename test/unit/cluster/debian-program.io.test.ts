// Programs of Debian come from the PATH, the cache or a package, and nothing is installed on the machine.
import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findDebianPrograms } from '../../cluster/debian-program.ts';
import { folderOf } from '../../support/serve-process.ts';

const tool = { name: 'tool', programs: ['toola', 'toolb'] };

/** Stands in for apt-get: it downloads only with lists, and the machine has none. */
const aptGet = `#!/bin/sh
lists=
for word; do case $word in Dir::State::lists=*) lists=\${word#*=};; update) : > "$lists/updated"; exit;; esac; done
[ -e "$lists/updated" ] || { echo "E: Unable to locate package" >&2; exit 100; }
: > tool_1.0_all.deb
`;
/** Stands in for dpkg-deb, with --extract FILE FOLDER. */
const dpkgDeb = `#!/bin/sh
mkdir -p "$3/usr/bin" && for name in toola toolb; do cp "$0" "$3/usr/bin/$name"; done
`;

async function executables(files: Readonly<Record<string, string>>) {
  const folder = await folderOf(files);
  for (const name of Object.keys(files)) await chmod(join(folder.path, name), 0o755);
  return folder;
}

test('programs on the PATH are used', async () => {
  await using bin = await executables({ toola: '', toolb: '' });
  await using cache = await folderOf({});
  const found = await findDebianPrograms(tool, { PATH: bin.path, XDG_CACHE_HOME: cache.path });
  expect(found).toMatchObject({ kind: 'found' });
  expect(await readdir(cache.path)).toEqual([]);
});

test('a package is downloaded with lists of its own, unpacked into the cache, and used again', async () => {
  await using bin = await executables({ 'apt-get': aptGet, 'dpkg-deb': dpkgDeb });
  await using cache = await folderOf({});
  const path = `${bin.path}:/usr/bin:/bin`;
  const found = await findDebianPrograms(tool, { PATH: path, XDG_CACHE_HOME: cache.path });
  const folder = join(cache.path, 'reeve', 'debian-tool');
  expect(found.kind === 'found' && found.paths.get('toolb')).toBe(join(folder, 'usr', 'bin', 'toolb'));
  expect(await readdir(join(cache.path, 'reeve'))).toEqual(['debian-tool']);
  const { ino } = await stat(folder);
  const again = await findDebianPrograms(tool, { PATH: '/nowhere', XDG_CACHE_HOME: cache.path });
  expect(again).toEqual(found);
  expect((await stat(folder)).ino).toBe(ino);
});

test('the reason names what is missing, on a machine that is not Debian', async () => {
  await using cache = await folderOf({});
  expect(await findDebianPrograms(tool, { PATH: '/nowhere', XDG_CACHE_HOME: cache.path })).toEqual({
    kind: 'none',
    reason: 'toola and toolb could not be downloaded: apt-get could not be started: is it on the PATH?',
  });
});
