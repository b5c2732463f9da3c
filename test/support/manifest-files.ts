// Reads the YAML files of manifests/ as objects.
import { globSync, readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { parseYaml } from '../../src/base/yaml.ts';

export interface ManifestObject {
  readonly file: string;
  readonly kind: string;
  readonly name: string;
  readonly object: JsonObject;
}

/** Returns the objects of all files of the folder, in the order in which kubectl applies them. Throws at anything else. */
export function manifestObjects(folder: string): readonly ManifestObject[] {
  return globSync(`manifests/${folder}/*.yaml`).sort().flatMap(objectsOf);
}

/** Returns the only object of a file. */
export function manifestObject(path: string): JsonObject {
  const [first, ...more] = objectsOf(`manifests/${path}`);
  if (first === undefined || more.length > 0) throw new Error(`${path} does not hold one object`);
  return first.object;
}

function objectsOf(file: string): readonly ManifestObject[] {
  return parseYaml(readFileSync(file, 'utf8')).documents.map((document) => {
    if (document.kind !== 'data' || !isJsonObject(document.value)) throw new Error(`${file} is broken`);
    const { kind, metadata } = document.value as { kind: string; metadata: { name: string } };
    return { file, kind, name: metadata.name, object: document.value };
  });
}
