// Finds the packages whose code is in the bundle, and writes their licenses as one text.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownMember } from '../src/base/json.ts';

/** The part of a file of the bundle that names its modules and their size. */
export interface BundledFile {
  readonly modules: Readonly<Record<string, { readonly renderedLength: number }>>;
}

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** https://spdx.org/licenses/ */
  readonly license: string;
  /** What the package ships about its license, in the order of the names of these files. */
  readonly texts: readonly string[];
}

/** Sorted by name and version. A package that only lends types or unused code is not in the bundle. */
export function packagesOf(files: readonly BundledFile[]): readonly BundledPackage[] {
  const modules = files.flatMap(({ modules: parts }) => Object.entries(parts));
  const folders = modules.filter(([, { renderedLength }]) => renderedLength > 0).map(([id]) => folderOf(id));
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .map(packageIn)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf({ name, version }: BundledPackage): string {
  return `${name}@${version}`;
}

/** Undefined for our own code. */
function folderOf(id: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
}

const licenseFile = /^(?:licen[cs]e|copying|notice)/i;

function packageIn(folder: string): BundledPackage {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const [name = '', version = '', license = ''] = ['name', 'version', 'license'].map((key) =>
    textIn(manifest, key),
  );
  if ([name, version, license].includes(''))
    throw new Error(`${folder}/package.json does not name its license`);
  const files = readdirSync(folder).filter((file) => licenseFile.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { name, version, license, texts };
}

function textIn(manifest: unknown, key: string): string {
  const value = ownMember(manifest, key);
  return typeof value === 'string' ? value : '';
}

export function licensesText(packages: readonly BundledPackage[]): string {
  const intro = `Reeve contains code of ${packages.length} packages. Each is listed with its license.\n`;
  return [intro, ...packages.map(sectionOf)].join(`\n${'-'.repeat(80)}\n\n`);
}

function sectionOf({ name, version, license, texts }: BundledPackage): string {
  return `${[`${name} ${version} (${license})`, ...texts].join('\n\n')}\n`;
}
