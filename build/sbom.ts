// Writes what the program and the image consist of, as CycloneDX: https://cyclonedx.org/docs/1.5/json/
//
// npm makes the document from package-lock.json, and only the packages of the bundle are kept. npm gives each document a random
// number and the time of day, which are left out: the same source must give the same bytes.
import { execFileSync } from 'node:child_process';
import { isJsonObject, ownMember, type JsonObject } from '../src/base/json.ts';
import type { BundledPackage } from './packages.ts';

export interface SbomComponent {
  readonly name: string;
  readonly version: string;
  /** https://github.com/package-url/purl-spec */
  readonly purl: string;
}

const npmArguments = 'sbom --sbom-format cyclonedx --sbom-type application --package-lock-only';

/** Contains the packages of the bundle, and of their dependencies only those in the bundle. */
export function sbomOf(root: string, packages: readonly BundledPackage[]): JsonObject {
  const text = execFileSync('npm', npmArguments.split(' '), {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const document: unknown = JSON.parse(text);
  if (!isJsonObject(document)) throw new Error('npm sbom did not print an object');
  return reproducible(document, new Set(packages.map(({ name, version }) => `${name}@${version}`)));
}

function reproducible(document: JsonObject, bundled: ReadonlySet<string>): JsonObject {
  const { serialNumber: _number, metadata, components, dependencies, ...rest } = document;
  const { timestamp: _time, component, ...facts } = objectOf(metadata);
  const program = objectOf(component);
  const self = String(program['bom-ref']);
  const kept = new Set<unknown>([...bundled, self]);
  return {
    ...rest,
    // npm calls the program by the name of its folder.
    metadata: { ...facts, component: { ...program, name: self.slice(0, self.lastIndexOf('@')) } },
    components: bundledIn(listOf(components), bundled),
    dependencies: listOf(dependencies)
      .filter((each) => kept.has(ownMember(each, 'ref')))
      .map((each) => ({ ...each, dependsOn: textsOf(each['dependsOn']).filter((ref) => kept.has(ref)) })),
  };
}

/**
 * To npm all packages are for development, because the npm package installs none of them. The program contains those of the
 * bundle, so scanners must not pass over them as optional.
 */
function bundledIn(components: readonly JsonObject[], bundled: ReadonlySet<string>): readonly JsonObject[] {
  const found = components.filter((each) => bundled.has(String(each['bom-ref'])));
  if (found.length !== bundled.size) throw new Error('npm sbom does not list every package of the bundle');
  return found.map(({ properties, ...component }) => ({
    ...component,
    scope: 'required',
    properties: listOf(properties).filter(({ name }) => name !== 'cdx:npm:package:development'),
  }));
}

/** Adds what no package manager has installed: Node, and the libraries of its system. */
export function withComponents(document: JsonObject, added: readonly SbomComponent[]): JsonObject {
  const more = added.map((component) => ({ 'bom-ref': component.purl, type: 'library', ...component }));
  return { ...document, components: [...listOf(document['components']), ...more] };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
