// The intents to try: each file is valid by itself, all of them can be applied together, and the README names each.
import { kinds } from '../../../src/api/kinds.ts';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../../src/base/yaml.ts';

interface Written {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: { readonly intents?: readonly string[] };
}

const folder = join(import.meta.dirname, '../../../manifests/samples/intents');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const files = globSync('*/*.yaml', { cwd: folder }).toSorted();

function objectsIn(file: string): readonly Written[] {
  const { documents } = parseYaml(readFileSync(join(folder, file), 'utf8'));
  return documents.map((document) => {
    if (document.kind !== 'data') throw new Error(`${file} is not YAML`);
    return document.value as Written;
  });
}

function problemsOf(object: Written): unknown {
  const outcome = parsedAs(object);
  return outcome.ok ? [] : outcome.problems;
}

function parsedAs(object: Written) {
  if (object.kind === 'SecurityIntent') return kinds.SecurityIntent.parse(object);
  return object.kind === 'ClusterSecurityIntentBinding'
    ? kinds.ClusterSecurityIntentBinding.parse(object)
    : kinds.SecurityIntentBinding.parse(object);
}

describe('the samples of intents', () => {
  it('there are nine of one namespace, and nine of the cluster', () => {
    const folders = files.map((file) => file.split('/')[0]);
    expect(folders).toEqual([
      ...Array<string>(9).fill('cluster-wide'),
      ...Array<string>(9).fill('namespaced'),
    ]);
  });

  it.each(files)('%s has one binding, the intents that it names, and no problem', (file) => {
    const objects = objectsIn(file);
    expect(objects.flatMap(problemsOf)).toEqual([]);
    const intents = objects.filter(({ kind }) => kind === 'SecurityIntent');
    const bindings = objects.filter(({ kind }) => kind !== 'SecurityIntent');
    expect(bindings.map(({ spec }) => spec.intents)).toEqual([intents.map(({ metadata }) => metadata.name)]);
  });

  it.each(files)('the README names %s', (file) => {
    expect(readme).toContain(`(${file})`);
  });

  it('no two objects have the same name', () => {
    const names = files
      .flatMap(objectsIn)
      .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
