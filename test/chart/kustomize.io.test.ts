// The overlays of kustomize and the chart install the same objects, and the versions of the project agree.
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { isJsonObject, ownMember, type JsonObject } from '../../src/base/json.ts';
import { parseYaml } from '../../src/base/yaml.ts';
import { generatedCrds } from '../checks/crd-files.ts';
import { overlays } from '../checks/chart/installed-files.ts';
import { annotationOf, idOf, releaseNamespace, renderChart } from '../checks/chart/rendered-chart.ts';
import type { Helm } from '../cluster/helm/helm.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { describeHelm, neededHelm } from './helm-versions.ts';

const own = `v1/Namespace//${releaseNamespace}`;

function objectsOf(text: string): ReadonlyMap<string, JsonObject> {
  const values = parseYaml(text).documents.flatMap((each) => (each.kind === 'data' ? [each.value] : []));
  return new Map(values.filter(isJsonObject).map((object) => [idOf(object), object]));
}

/** Only Helm reads its annotation. */
function withoutHelm(object: JsonObject): JsonObject {
  if (annotationOf(object, 'helm.sh/resource-policy') === undefined) return object;
  const { annotations: _, ...metadata } = object['metadata'] as JsonObject;
  return { ...object, metadata };
}

it('Artifact Hub can read the annotations of the chart, and lists the kinds that it installs', () => {
  const [chart] = objectsOf(readFileSync('manifests/chart/Chart.yaml', 'utf8')).values();
  const { 'artifacthub.io/crds': crds, ...others } = (chart ?? {})['annotations'] as Record<string, string>;
  // The names and values that exist: https://artifacthub.io/docs/topics/annotations/helm/
  const category =
    /^(?:ai-machine-learning|database|integration-delivery|monitoring-logging|networking|security|storage)$/;
  const capabilities = /^(?:Basic Install|Seamless Upgrades|Full Lifecycle|Deep Insights|Auto Pilot)$/;
  expect(others).toEqual({
    'artifacthub.io/category': expect.stringMatching(category) as string,
    'artifacthub.io/license': 'Apache-2.0',
    'artifacthub.io/operator': 'true',
    'artifacthub.io/operatorCapabilities': expect.stringMatching(capabilities) as string,
    'artifacthub.io/prerelease': 'true',
  });
  const [listed] = parseYaml(crds ?? '').documents;
  expect(listed?.kind === 'data' ? listed.value : listed).toEqual(
    generatedCrds().map(({ path }) => {
      const [definition] = objectsOf(readFileSync(path, 'utf8')).values();
      const { names, versions } = (definition ?? {})['spec'] as {
        readonly names: { readonly kind: string };
        readonly versions: readonly { readonly name: string }[];
      };
      return {
        kind: names.kind,
        version: versions[0]?.name,
        name: ownMember(definition?.['metadata'], 'name'),
        displayName: expect.stringMatching(/\S/) as string,
        description: expect.stringMatching(/\.$/) as string,
      };
    }),
  );
});

it('the chart and the program have one version', () => {
  const versionIn = (file: string): unknown => {
    const [document] = parseYaml(readFileSync(file, 'utf8')).documents;
    return document?.kind === 'data' ? document.value : undefined;
  };
  const chart = versionIn('manifests/chart/Chart.yaml');
  const program = versionIn('package.json');
  for (const key of ['version', 'appVersion'])
    expect(ownMember(chart, key)).toBe(ownMember(program, 'version'));
});

describeHelm('an overlay of kustomize', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await neededHelm(4);
  });

  const folders = [['.', overlays.ha] as const].concat(
    Object.entries(overlays).map(([name, values]) => [`overlays/${name}`, values] as never),
  );

  it.each(folders)('manifests/%s has the objects of the chart, and the namespace', async (folder, values) => {
    const built = objectsOf(
      await mustKubectl(['kustomize', `manifests/${folder}`], { kubeconfig: '/dev/null' }),
    );
    const { documents } = await renderChart(helm, values);
    const rendered = new Map(documents.map(({ object }) => [idOf(object), withoutHelm(object)]));
    expect([...built.keys()].toSorted()).toEqual([...rendered.keys(), own].toSorted());
    for (const [id, object] of rendered) expect(built.get(id)).toEqual(object);
  });
});
