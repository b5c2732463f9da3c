// Where the control plane's programs come from, and when a build can be used again.
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandOf, findBinary } from '../../cluster/binary.ts';
import { cacheFolder, cacheKey, kubernetesVersion, neverBuilds } from '../../cluster/go-program.ts';
import { folderOf } from '../../support/serve-process.ts';

test('findBinary without Go takes the folder of KUBEBUILDER_ASSETS', async () => {
  await using folder = await folderOf({});
  await program(folder.path, 'etcd');
  await program(folder.path, 'kube-apiserver');
  const found = await findBinary({ PATH: '', KUBEBUILDER_ASSETS: folder.path });
  expect(found).toEqual({ kind: 'assets', folder: folder.path });
});

test('findBinary without Go names the program that the folder lacks', async () => {
  await using folder = await folderOf({});
  await program(folder.path, 'etcd');
  const found = await findBinary({ PATH: '', KUBEBUILDER_ASSETS: folder.path });
  expect(found).toEqual({
    kind: 'none',
    reason: 'KUBEBUILDER_ASSETS has no kube-apiserver, and Go is not there',
  });
});

test('findBinary without Go finds none when nothing is there', async () => {
  const found = await findBinary({ PATH: '/nonexistent' });
  expect(found).toEqual({
    kind: 'none',
    reason: 'neither Go is on the PATH nor KUBEBUILDER_ASSETS is set',
  });
});

describe('findBinary with Go', () => {
  const go = ['#!/bin/sh', 'case $1 in', 'env) echo go9 linux amd64 ;;', 'build) for last; do :; done'];

  test('findBinary with Go builds once, and takes what it built from then on', async () => {
    await using folder = await folderOf({});
    const build = 'shift 4; [ "$1" = -o ] || shift; echo built >>"$2.count"; cp /bin/sh "$2" ;;';
    await program(folder.path, 'go', [...go, build, 'esac'].join('\n'));
    const env = { PATH: `${folder.path}:/usr/bin:/bin`, XDG_CACHE_HOME: folder.path };
    const said: string[] = [];
    const first = await findBinary(env, (text) => said.push(text));
    const again = await findBinary(env, (text) => said.push(text));
    expect(first.kind).toBe('built');
    expect(again).toEqual(first);
    expect(said).toHaveLength(1);
  });

  test('a test of npm test cannot build', async () => {
    await using folder = await folderOf({});
    await program(folder.path, 'go', [...go, '    exit 1 ;;', 'esac'].join('\n'));
    const env = { PATH: `${folder.path}:/usr/bin:/bin`, ...neverBuilds };
    await expect(findBinary(env)).rejects.toThrow('npm test does not build controlplane');
  });

  test('two at once get the same whole file', async () => {
    await using folder = await folderOf({});
    const build = 'shift 4; [ "$1" = -o ] || shift; cp /bin/sh "$2" ;;';
    await program(folder.path, 'go', [...go, build, 'esac'].join('\n'));
    const env = { PATH: `${folder.path}:/usr/bin:/bin`, XDG_CACHE_HOME: folder.path };
    const [one, other] = await Promise.all([findBinary(env), findBinary(env)]);
    expect(one).toEqual(other);
  });

  test('findBinary with Go rejects with what Go said when the build fails', async () => {
    await using folder = await folderOf({});
    await program(folder.path, 'go', [...go, 'echo no such module >&2; exit 1 ;;', 'esac'].join('\n'));
    const env = { PATH: folder.path, XDG_CACHE_HOME: folder.path };
    await expect(findBinary(env)).rejects.toThrow(/go build failed:\nno such module/);
  });
});

const files = new Map([
  ['go.mod', Buffer.from('a')],
  ['main.go', Buffer.from('b')],
]);
const key = cacheKey(files, 'go1.26 linux amd64');

test('cacheKey does not depend on the order of the files', () => {
  expect(cacheKey(new Map([...files].toReversed()), 'go1.26 linux amd64')).toBe(key);
});

test.for([
  ['another version of Go', files, 'go1.27 linux amd64'],
  ['another platform', files, 'go1.26 linux arm64'],
  ['another content', new Map([...files, ['main.go', Buffer.from('c')]]), 'go1.26 linux amd64'],
  ['another file', new Map([...files, ['go.sum', Buffer.from('')]]), 'go1.26 linux amd64'],
  [
    'contents exchanged',
    new Map([
      ['go.mod', Buffer.from('b')],
      ['main.go', Buffer.from('a')],
    ]),
    'go1.26 linux amd64',
  ],
] as const)('cacheKey differs for %s', ([, others, toolchain]) => {
  expect(cacheKey(others, toolchain)).not.toBe(key);
});

test.for([
  [{ XDG_CACHE_HOME: '/var/cache/me' }, /^\/var\/cache\/me\/reeve$/],
  [{}, /\/\.cache\/reeve$/],
  [{ XDG_CACHE_HOME: 'relative' }, /\/\.cache\/reeve$/],
] as const)('the cache of %o', ([env, expected]) => {
  expect(cacheFolder(env)).toMatch(expected);
});

test('kubernetesVersion is the one that go.mod requires', () => {
  expect(kubernetesVersion('require (\n\tk8s.io/kubernetes v1.36.3\n)\n')).toBe('v1.36.3');
});

test('kubernetesVersion is not one of a replacement', () => {
  expect(() => kubernetesVersion('k8s.io/api => k8s.io/kubernetes v1.0.0')).toThrow('does not name');
});

test.for([
  [{ kind: 'built', path: '/c' }, 'kube-controller-manager', ['/c', 'kube-controller-manager']],
  [{ kind: 'assets', folder: '/a' }, 'etcd', ['/a/etcd']],
  [{ kind: 'assets', folder: '/a' }, 'kube-controller-manager', undefined],
  [{ kind: 'none', reason: '' }, 'etcd', undefined],
] as const)('the binary %o starts %s as %o', ([binary, name, command]) => {
  expect(commandOf(binary, name)).toEqual(command);
});

async function program(folder: string, name: string, content = '#!/bin/sh\n'): Promise<void> {
  await writeFile(join(folder, name), content);
  await chmod(join(folder, name), 0o755);
}
