// Finds the package of Debian that a file of the base belongs to, for the list of packages and for its license.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SbomComponent } from './sbom.ts';

export interface DebianPackage extends SbomComponent {
  /** https://www.debian.org/doc/debian-policy/ch-docs.html#copyright-information */
  readonly copyright: string;
}

/** `base`: the root of a Debian system. `path`: any path of the file; only its name counts, because /lib is /usr/lib. */
export function debianPackageOf(base: string, path: string): DebianPackage {
  const file = `/${basename(path)}`;
  const info = join(base, 'var/lib/dpkg/info');
  const list = globSync('lib*.list', { cwd: info })
    .toSorted()
    .find((name) =>
      readFileSync(join(info, name), 'utf8')
        .split('\n')
        .some((line) => line.endsWith(file)),
    );
  if (list === undefined) throw new Error(`no package of the base has ${file}`);
  const name = basename(list, '.list').replace(/:.*$/, '');
  const version = versionOf(base, name);
  return {
    name,
    version,
    // https://github.com/package-url/purl-spec/blob/main/types-doc/deb-definition.md
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}`,
    copyright: readFileSync(join(base, 'usr/share/doc', name, 'copyright'), 'utf8'),
  };
}

/** https://www.debian.org/doc/debian-policy/ch-controlfields.html */
function versionOf(base: string, name: string): string {
  const status = readFileSync(join(base, 'var/lib/dpkg/status'), 'utf8').split('\n\n');
  const entry = status.find((each) => each.startsWith(`Package: ${name}\n`));
  const version = /^Version: (?<version>\S+)$/mu.exec(entry ?? '')?.groups?.['version'];
  if (version === undefined) throw new Error(`the base does not know the version of ${name}`);
  return version;
}
