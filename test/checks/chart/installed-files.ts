// Generates the files that install Reeve without Helm from the chart: plain YAML, and the bases and overlays of kustomize.
import { format, resolveConfig } from 'prettier';
import { createPatch } from 'rfc6902';
import type { GeneratedFile } from '../crd-files.ts';
import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { stringifyYaml } from '../../../src/base/yaml.ts';
import type { Helm } from '../../cluster/helm/helm.ts';
import { idOf, releaseNamespace, renderChart, type RenderedDocument } from './rendered-chart.ts';

/** Ways to install Reeve with kustomize, each with the values that make the chart install the same objects. */
export const overlays = {
  ha: {},
  single: { ha: { enabled: false } },
  'cert-manager': { certificates: { source: 'cert-manager' } },
} as const;

/** Files beside the install, which replace some of it or add to it: one file of the chart with other values. */
const variants = [
  {
    template: 'install/22-reconciler-secrets.yaml',
    path: 'manifests/named-secrets/22-reconciler-secrets.yaml',
    values: { secretNames: ['regcred'] },
  },
  {
    template: 'audit-secrets/26-reconciler-audit-secrets.yaml',
    path: 'manifests/audit-secrets/26-reconciler-audit-secrets.yaml',
    values: { secretNames: ['regcred'], auditSecrets: true },
  },
  {
    template: 'reports/27-reconciler-reports.yaml',
    path: 'manifests/reports/27-reconciler-reports.yaml',
    values: { reports: true },
  },
  {
    template: 'claims/28-reconciler-claims.yaml',
    path: 'manifests/claims/28-reconciler-claims.yaml',
    values: { namespaceClaims: true },
  },
  {
    template: 'monitoring/72-monitoring.yaml',
    path: 'manifests/observability/72-monitoring.yaml',
    values: { metrics: { podMonitor: true, prometheusRule: true } },
  },
] as const;

const namespacesFile = 'install/00-namespaces.yaml';

/** These folders hold files of `installedFiles` and nothing else. */
export const installedFolders = [
  'install',
  'named-secrets',
  'audit-secrets',
  'reports',
  'claims',
  'all-in-one',
  'cert-manager',
  'overlays',
  'observability',
];

export async function installedFiles(helm: Helm): Promise<readonly GeneratedFile[]> {
  const base = await plainDocuments(helm, overlays.ha);
  const files = [...textsOf(base)].map(([template, text]) => ({ path: `manifests/${template}`, text }));
  for (const { template, path, values } of variants) {
    const text = textsOf(await plainDocuments(helm, values)).get(template) ?? '';
    files.push({ path, text });
  }
  files.push(kustomization('manifests/install', namesIn(files, 'manifests/install')));
  files.push(kustomization('manifests', ['overlays/ha']));
  for (const [name, values] of Object.entries(overlays))
    files.push(...overlayFiles(name, base, await plainDocuments(helm, values)));
  return await Promise.all(files.map(formatted));
}

/** Without the kinds, which have files of their own. */
async function plainDocuments(helm: Helm, values: object): Promise<readonly RenderedDocument[]> {
  const { documents } = await renderChart(helm, values);
  return documents
    .filter(({ template }) => !template.startsWith('crds/'))
    .map((document) => ({ ...document, ...withoutHelm(document) }));
}

/** Removes what only Helm reads. */
function withoutHelm({ text, object }: RenderedDocument): Pick<RenderedDocument, 'text' | 'object'> {
  const { annotations: _, ...metadata } = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const keep = /^ *annotations: \{ helm\.sh\/resource-policy: keep \}\n?/m;
  return keep.test(text)
    ? { text: text.replace(keep, '').trim(), object: { ...object, metadata } }
    : { text, object };
}

/** Returns the text of each file. `helm template` orders documents by kind, and keeps those of one file in order. */
function textsOf(documents: readonly RenderedDocument[]): ReadonlyMap<string, string> {
  const files = Map.groupBy(documents, ({ template }) => template);
  return new Map(
    [...files].map(([template, all]) => {
      const texts = template === namespacesFile ? withOwnNamespace(all) : all.map(({ text }) => text);
      return [template, `${texts.join('\n---\n')}\n`];
    }),
  );
}

/** A chart cannot contain the namespace of its release, so the files without Helm get it here. */
function withOwnNamespace([shared, ...more]: readonly RenderedDocument[]): readonly string[] {
  if (shared === undefined) return [];
  const own = shared.text
    .replace(/^#.*\n/, '# The namespace of Reeve. No policy ever matches it.\n')
    .replace(/^( {2}name: ).*$/m, `$1${releaseNamespace}`);
  return [own, shared.text, ...more.map(({ text }) => text)];
}

function overlayFiles(
  name: string,
  base: readonly RenderedDocument[],
  wanted: readonly RenderedDocument[],
): readonly GeneratedFile[] {
  const before = new Map(base.map(({ object }) => [idOf(object), object]));
  const after = new Map(wanted.map(({ object }) => [idOf(object), object]));
  const added = textsOf(wanted.filter(({ object }) => !before.has(idOf(object))));
  const parts = Map.groupBy(added, ([template]) => template.slice(0, template.indexOf('/')));
  const patches = [...before].flatMap(([id, object]) => patchOf(object, after.get(id)) ?? []);
  const folders = ['crds', 'install', ...parts.keys()].map((folder) => `../../${folder}`);
  return [
    ...[...added].map(([template, text]) => ({ path: `manifests/${template}`, text })),
    ...[...parts].map(([folder, files]) =>
      kustomization(
        `manifests/${folder}`,
        files.map(([template]) => template.slice(folder.length + 1)),
      ),
    ),
    kustomization(`manifests/overlays/${name}`, folders, patches),
  ];
}

/** https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/patches/ */
function patchOf(before: JsonObject, after: JsonObject | undefined): object | undefined {
  const { apiVersion, kind, metadata } = before as {
    apiVersion: string;
    kind: string;
    metadata: { name: string; namespace?: string };
  };
  const { name, namespace } = metadata;
  const place = namespace === undefined ? { name } : { name, namespace };
  if (after === undefined)
    return { patch: stringifyYaml({ apiVersion, kind, metadata: place, $patch: 'delete' }) };
  const operations = createPatch(before, after);
  if (operations.length === 0) return undefined;
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { target: { group, version, kind, ...place }, patch: stringifyYaml(operations) };
}

/**
 * kubectl applies every file of a folder that ends with `.yaml`, and would apply `kustomization.yaml` too. kustomize also
 * reads `Kustomization`. https://kubectl.docs.kubernetes.io/references/kustomize/glossary/#kustomization
 */
export function kustomization(
  folder: string,
  resources: readonly string[],
  patches: readonly object[] = [],
): GeneratedFile {
  const object = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources,
    ...(patches.length === 0 ? {} : { patches }),
  };
  const header = '# Generated from manifests/chart: change that and run `npm run generate`.\n';
  return { path: `${folder}/Kustomization`, text: header + stringifyYaml(object) };
}

function namesIn(files: readonly GeneratedFile[], folder: string): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ path }) => path.slice(folder.length + 1))
    .sort();
}

async function formatted({ path, text }: GeneratedFile): Promise<GeneratedFile> {
  if (!path.endsWith('.yaml')) return { path, text };
  return { path, text: await format(text, { ...(await resolveConfig(path)), parser: 'yaml' }) };
}
