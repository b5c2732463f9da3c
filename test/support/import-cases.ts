// Reads the cases of importers: one folder of test/fixtures/importers for each older tool, and in it one for each case.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultImportOptions, importSources } from '../../src/importers/importers.ts';
import type { ImportOptions, SourceObject } from '../../src/importers/importer.ts';
import type { KubeObject } from '../../src/base/metadata.ts';
import { readObjects } from '../../src/state/yaml-files.ts';

const folder = join(import.meta.dirname, '../fixtures/importers');

export interface ImportCase {
  readonly source: string;
  readonly name: string;
  readonly objects: readonly SourceObject[];
  readonly options: ImportOptions;
}

export function importCases(): readonly ImportCase[] {
  return importSources.flatMap((source) =>
    readdirSync(join(folder, source))
      .toSorted()
      .map((name) => ({
        source,
        name,
        objects: objectsIn(join(folder, source, name, 'input.yaml')),
        options: { ...defaultImportOptions, fromBindings: name === 'fork' },
      })),
  );
}

export function foldersOfImporters(): readonly string[] {
  return readdirSync(folder).toSorted();
}

function objectsIn(path: string): readonly SourceObject[] {
  const { objects, problems } = readObjects({ file: 'input.yaml', text: readFileSync(path, 'utf8') });
  if (problems.length > 0) throw new Error(`${path}: ${JSON.stringify(problems)}`);
  return objects.map(({ value, line }) => ({ object: value as KubeObject, file: 'input.yaml', line }));
}
