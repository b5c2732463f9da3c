// Writes manifests/crds: the CustomResourceDefinitions of our kinds.
import { crdOf, kindDefinitions } from '../../src/api/kinds.ts';
import { stringifyYaml } from '../../src/base/yaml.ts';
import { group } from '../../src/schema/names.ts';

export interface GeneratedFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export function generatedCrds(): readonly GeneratedFile[] {
  const header = '# Generated from src/api: change that and run `npm run generate`.\n';
  return kindDefinitions.map((definition) => ({
    path: `manifests/crds/${group}_${definition.plural}.yaml`,
    text: header + stringifyYaml(crdOf(definition)),
  }));
}
