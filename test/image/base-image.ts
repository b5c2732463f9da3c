// The base of the image: the one of the Dockerfile where a registry can be reached, otherwise a stand-in made here.
//
// The stand-in is a Debian of the same release with the same version of Node, from packages of Debian and of npm.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runTool } from './tools.ts';

export const repository = resolve(import.meta.dirname, '../..');

/** Names another base, which buildah has or can pull, such as the base of the Dockerfile itself. */
const variable = 'REEVE_NODE_IMAGE';
const npmVersion = '11.19.1';
const debianPackages = ['libstdc++6', 'libatomic1', 'ca-certificates'];
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

interface BaseRelease {
  readonly node: string;
  readonly debian: string;
}

/** The Dockerfile names both: node:24.18.0-bookworm-slim@sha256:… */
function baseRelease(dockerfile: string): BaseRelease {
  const { node, debian } =
    /^ARG NODE_IMAGE=\S+\/node:(?<node>\d+\.\d+\.\d+)-(?<debian>[a-z]+)-slim@sha256:[0-9a-f]{64}$/mu.exec(
      dockerfile,
    )?.groups ?? {};
  if (node === undefined || debian === undefined) throw new Error('the Dockerfile does not pin its base');
  return { node, debian };
}

/** Returns the name of a base that buildah has. */
export function baseImage(say: (text: string) => void): string {
  const given = process.env[variable] ?? '';
  if (given !== '') {
    runTool('buildah', ['pull', '-q', '--policy', 'missing', given]);
    return given;
  }
  const release = baseRelease(readFileSync(join(repository, 'Dockerfile'), 'utf8'));
  const recipe = JSON.stringify([release, npmVersion, debianPackages]);
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 16);
  const name = `localhost/reeve-base:${key}`;
  if (runTool('buildah', ['images', '-q', '--filter', `reference=${name}`]).trim() === '') {
    say('making a stand-in for the base of the image; the first time this takes a minute or two');
    makeStandIn(release, name);
  }
  return name;
}

function makeStandIn({ node, debian }: BaseRelease, name: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-base-'));
  try {
    const root = join(folder, 'root');
    const local = join(root, 'usr/local');
    const runtime = unpacked(`node-linux-${process.arch}@${node}`, folder);
    cpSync(join(runtime, 'bin/node'), join(local, 'bin/node'), { recursive: true });
    cpSync(join(runtime, 'LICENSE'), join(local, 'LICENSE'));
    cpSync(unpacked(`npm@${npmVersion}`, folder), join(local, 'lib/node_modules/npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
    const archive = join(folder, 'root.tar');
    const packages = `--include=${debianPackages.join(',')}`;
    const architecture = `--architectures=${architectures[process.arch]}`;
    const hook = `--customize-hook=sync-in ${root} /`;
    runTool('mmdebstrap', ['--quiet', '--variant=minbase', architecture, packages, hook, debian, archive]);
    writeFileSync(
      join(folder, 'Dockerfile'),
      'FROM scratch\nADD root.tar /\nENV PATH=/usr/local/bin:/usr/bin:/bin\n',
    );
    runTool('buildah', ['build', '-q', '-t', name, folder]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the folder of a package of npm. Nothing of it runs. */
function unpacked(name: string, folder: string): string {
  const into = mkdtempSync(join(folder, 'package-'));
  runTool('npm', ['pack', '--silent', '--pack-destination', into, name], into);
  runTool('sh', ['-c', 'tar -xzf *.tgz && rm *.tgz'], into);
  return join(into, 'package');
}
