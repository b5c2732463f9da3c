// Generates the files of the chart that have another source: its copies of the kinds, its dashboard, its README, the kinds
// that policies never provide, and the kinds of the adapters of intents.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedCrds, type GeneratedFile } from '../crd-files.ts';
import { forbiddenGroups, forbiddenKinds } from '../../../src/contents/resources.ts';
import { guessedPlural } from '../../../src/base/text.ts';
import { intentAdapters } from '../../../src/policy/intents/adapters.ts';
import { chartReadme } from './chart-readme.ts';
import { dashboard } from './dashboard.ts';
import { kustomization } from './installed-files.ts';

const chart = join(import.meta.dirname, '..', '..', '..', 'manifests', 'chart');

export function chartFiles(): readonly GeneratedFile[] {
  const crds = generatedCrds().map(({ path, text }) => ({
    name: path.slice(path.lastIndexOf('/') + 1),
    text,
  }));
  return [
    ...crds.map(({ name, text }) => ({ path: `manifests/chart/files/crds/${name}`, text: kept(text) })),
    kustomization(
      'manifests/crds',
      crds.map(({ name }) => name),
    ),
    {
      path: 'manifests/chart/files/dashboards/reeve.json',
      text: `${JSON.stringify(dashboard(), null, 2)}\n`,
    },
    {
      path: 'manifests/chart/files/never-provided.json',
      text: `${JSON.stringify({ groups: forbiddenGroups, kinds: forbiddenKinds }, null, 2)}\n`,
    },
    {
      path: 'manifests/chart/files/adapter-kinds.json',
      text: `${JSON.stringify(kindsOfAdapters(), null, 2)}\n`,
    },
    {
      path: 'manifests/chart/README.md',
      text: chartReadme(readFileSync(join(chart, 'values.yaml'), 'utf8')),
    },
  ];
}

/** By the id of the adapter, in the form of the value `resourceKinds`. */
function kindsOfAdapters(): Readonly<Record<string, readonly object[]>> {
  const entries = intentAdapters.map(({ id, provides }) => {
    const kinds = provides.map((type) => ({ ...type, resource: guessedPlural(type.kind) }));
    return [id, kinds] as const;
  });
  return Object.fromEntries(entries);
}

/** `helm uninstall` would delete the kinds with every policy and share. https://helm.sh/docs/howto/charts_tips_and_tricks/ */
function kept(crd: string): string {
  return crd.replace(/^metadata:\n/m, '$&  annotations:\n    helm.sh/resource-policy: keep\n');
}
