// Puts together the root of the image: Node with its libraries from a base, the program, and the licenses of all.
//
//   node build/root.ts BASE OUT
//
// BASE is the root of the base image for the target platform. Nothing of it runs, so no emulation is needed.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isJsonObject } from '../src/base/json.ts';
import { licensesFile, sbomFile } from './bundle.ts';
import { cacheFolder } from './compile-cache.ts';
import { debianPackageOf, type DebianPackage } from './debian.ts';
import { elfNeeds } from './elf.ts';
import { withComponents, type SbomComponent } from './sbom.ts';

const repository = resolve(import.meta.dirname, '..');
const node = 'usr/local/bin/node';

/** Kubernetes reads the number of the user from the image; tools that ask for its name find one here. */
const passwd = 'reeve:x:65532:65532:reeve:/:/nonexistent\n';
/** /etc/hosts comes first, as on other systems: https://man7.org/linux/man-pages/man5/nsswitch.conf.5.html */
const nameService = 'hosts: files dns\n';

function assembleRoot(base: string, out: string): void {
  const at = (path: string): string => join(out, path);
  const libraries = librariesOf(base);
  copy(join(base, node), at(node));
  for (const { from, to } of libraries) copy(from, at(to));
  write(at('etc/passwd'), passwd);
  write(at('etc/nsswitch.conf'), nameService);
  const owners = libraries.map(({ from }) => debianPackageOf(base, from));
  const packages = [...new Map(owners.map((each) => [each.name, each])).values()];
  writeLicenses(base, at('licenses'), packages);
  copyProgram(at('reeve'), packages);
  copyCompileCache(base, at('reeve'));
  normalize(out);
}

interface Library {
  readonly from: string;
  /** In the image. */
  readonly to: string;
}

/** Node's loader, and all libraries that Node and its libraries need. */
function librariesOf(base: string): readonly Library[] {
  const { loader = '' } = elfNeeds(readFileSync(join(base, node)));
  const found = new Map([[loader, { from: systemLibrary(base, loader), to: loader }]]);
  const waiting = [join(base, node)];
  // The loop also visits the libraries that it adds.
  for (const file of waiting) {
    for (const name of elfNeeds(readFileSync(file)).libraries) {
      if (found.has(name) || loader.endsWith(`/${name}`)) continue;
      const from = systemLibrary(base, name);
      found.set(name, { from, to: from.slice(base.length) });
      waiting.push(from);
    }
  }
  return [...found.values()];
}

/** Debian keeps them in a folder for the platform: https://wiki.debian.org/Multiarch/TheCaseForMultiarch */
function systemLibrary(base: string, path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const [found] = globSync(`usr/lib/*-linux-gnu*/${name}`, { cwd: base });
  if (found === undefined) throw new Error(`the base has no ${name}`);
  return join(base, found);
}

function writeLicenses(base: string, out: string, packages: readonly DebianPackage[]): void {
  copy(join(repository, 'LICENSE'), join(out, 'reeve/LICENSE'));
  copy(join(repository, 'dist', licensesFile), join(out, 'reeve', licensesFile));
  copy(join(base, 'usr/local/LICENSE'), join(out, 'node/LICENSE'));
  for (const { name, copyright } of packages) write(join(out, name, 'copyright'), copyright);
}

function copyProgram(out: string, packages: readonly DebianPackage[]): void {
  for (const path of ['package.json', 'dist/bin', 'manifests'])
    cpSync(join(repository, path), join(out, path), { recursive: true });
  // The base of the build and the base of the image are the same version for two platforms.
  const { node: version } = process.versions;
  const runtime: SbomComponent = { name: 'node', version, purl: `pkg:generic/node@${version}` };
  const libraries = packages.map(({ name, version: each, purl }) => ({ name, version: each, purl }));
  const document: unknown = JSON.parse(readFileSync(join(repository, 'dist', sbomFile), 'utf8'));
  if (!isJsonObject(document)) throw new Error(`${sbomFile} is not an object`);
  write(
    join(out, sbomFile),
    `${JSON.stringify(withComponents(document, [runtime, ...libraries]), undefined, 2)}\n`,
  );
}

/**
 * V8 only reads a cache of its own platform, and writing one would need emulation here. An image for another platform starts
 * without one: a Pod that makes its own at the first start would need a folder of code that it can write.
 */
function copyCompileCache(base: string, out: string): void {
  const [here, there] = [process.execPath, join(base, node)].map(
    (path) => elfNeeds(readFileSync(path)).loader,
  );
  const path = join('dist', cacheFolder);
  if (here === there) cpSync(join(repository, path), join(out, path), { recursive: true });
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Modes and times come from here, and not from the umask and the clock of the build machine. */
function normalize(out: string): void {
  const time = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0);
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const [top = ''] = relative(out, path).split('/');
    chmodSync(path, entry.isDirectory() || /^(?:usr|lib(?:64)?)$/.test(top) ? 0o755 : 0o644);
    utimesSync(path, time, time);
  }
}

if (import.meta.main) {
  const [base = '', out = ''] = process.argv.slice(2);
  assembleRoot(resolve(base), resolve(out));
}
