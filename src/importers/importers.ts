// The one entry of the room: imports the objects of one older tool.
import type { ImportOptions, ImportResult, SourceObject } from './importer.ts';
import { ImportRun, type Importer } from './import-run.ts';
import { capsule } from './tools/capsule.ts';
import { clusterSecret } from './tools/cluster-secret.ts';
import { hnc } from './tools/hnc.ts';
import { kyverno } from './tools/kyverno.ts';
import { multiSecret } from './tools/multi-secret.ts';
import { nimbus } from './tools/nimbus.ts';
import { rbacManager } from './tools/rbac-manager.ts';
import { reflector } from './tools/reflector.ts';
import { replicator } from './tools/replicator.ts';
import { rolebindingOperator } from './tools/rolebinding-operator.ts';

/** Keys are the names that a person gives. */
const importers = {
  capsule,
  clustersecret: clusterSecret,
  hnc,
  kyverno,
  multisecret: multiSecret,
  nimbus,
  'rbac-manager': rbacManager,
  reflector,
  replicator,
  'rolebinding-operator': rolebindingOperator,
} satisfies Readonly<Record<string, Importer>>;

export const importSources: readonly string[] = Object.keys(importers);

export function importerOf(source: string): Importer {
  const found = Object.entries<Importer>(importers).find(([name]) => name === source);
  if (found === undefined) throw new Error(`no importer is called ${source}`);
  return found[1];
}

export const defaultImportOptions: ImportOptions = {
  fromBindings: false,
  sharedNamespaces: ['reeve-shared'],
};

/** Reads no file and no cluster. Ignores objects that do not concern the tool. */
export function importFrom(
  source: string,
  objects: readonly SourceObject[],
  options: ImportOptions = defaultImportOptions,
): ImportResult {
  const importer = importerOf(source);
  const run = new ImportRun(importer, objects, options);
  importer.read(run);
  return run.result();
}
