// Every value of the chart changes something, both versions of Helm render the same, and the schema refuses wrong values.
import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ownMember, type JsonObject } from '../../src/base/json.ts';
import { kindDefinitions } from '../../src/api/kinds.ts';
import { chartValues } from '../checks/chart/chart-readme.ts';
import { annotationOf, idOf, refusal, renderChart, type Rendered } from '../checks/chart/rendered-chart.ts';
import { chartFolder, type Helm } from '../cluster/helm/helm.ts';
import { describeHelm, neededHelm } from './helm-versions.ts';
import { valueCases, valueSets, withValue } from './values-cases.ts';

const values = chartValues(readFileSync('manifests/chart/values.yaml', 'utf8'));

function textOf({ documents, hooks }: Rendered): string {
  return [...documents, ...hooks].map(({ text }) => text).join('\n---\n');
}

function nameOf(object: JsonObject): unknown {
  return ownMember(object['metadata'], 'name');
}

/** Returns whether the Pods use the network of their nodes, how an update replaces them, and their ports. */
function onNode(spec: unknown): readonly unknown[] {
  const pod = ownMember(ownMember(spec, 'template'), 'spec');
  const [container] = ownMember(pod, 'containers') as readonly unknown[];
  const ports = ownMember(container, 'ports') as readonly unknown[];
  const update = ownMember(ownMember(spec, 'strategy'), 'rollingUpdate');
  return [ownMember(pod, 'hostNetwork'), update, ...ports.map((port) => ownMember(port, 'containerPort'))];
}

it('the table of cases has every value of the chart', () => {
  expect(valueCases.map(({ path }) => path)).toEqual(values.map(({ path }) => path));
});

it.each(globSync('docs/operate/*.md'))('every value that %s sets is a value of the chart', (page) => {
  const flags = readFileSync(page, 'utf8').matchAll(/--set(?:-string|-json)?[ =]['"]?([\w.]+)=/g);
  const paths = values.map(({ path }) => path);
  // A value of any form has members of any name, such as metrics.labels.release.
  const unknown = [...flags].filter(
    ([, set = '']) => !paths.some((path) => `${set}.`.startsWith(`${path}.`)),
  );
  expect(unknown.map(([flag]) => flag)).toEqual([]);
});

describeHelm('the chart', () => {
  let helm3: Helm;
  let helm4: Helm;

  beforeAll(async () => {
    helm3 = await neededHelm(3);
    helm4 = await neededHelm(4);
  });

  it.each(valueCases)('$path changes the rendered objects', async ({ path, value, beside = {}, shows }) => {
    const before = textOf(await renderChart(helm4, beside));
    const after = textOf(await renderChart(helm4, withValue(beside, path, value)));
    // Booleans, because a failure would print both texts.
    expect(after === before).toBe(false);
    if (shows === '') return;
    expect([before.includes(shows), after.includes(shows)]).toEqual([false, true]);
  });

  it.each(valueSets)('with %s, Helm 3 and Helm 4 render the same objects', async (_, set) => {
    const rendered = textOf(await renderChart(helm4, set));
    expect(textOf(await renderChart(helm3, set)) === rendered).toBe(true);
    expect(rendered).toContain('kind: ValidatingAdmissionPolicy');
  });

  it.each(valueSets)('with %s, no object occurs twice', async (_, set) => {
    const { documents, hooks } = await renderChart(helm4, set);
    const ids = [...documents, ...hooks].map(({ object }) => idOf(object));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('a kind of an adapter that resourceKinds names, too, occurs once, and CronJobs need the image of the scanner', async () => {
    const kindsWith = async (set: object): Promise<readonly string[]> => {
      const { documents } = await renderChart(helm4, set);
      const { text = '' } = documents.find(({ template }) => template === 'install/61-reconciler.yaml') ?? {};
      return [...text.matchAll(/--resource-kind=(.*)/g)].map(([, kind = '']) => kind);
    };
    const plain = await kindsWith({});
    expect(plain.filter((kind) => kind.endsWith('/NetworkPolicy'))).toHaveLength(1);
    expect(plain).not.toContain('batch/v1/CronJob');
    const scanning = await kindsWith({ tlsScan: { image: 'k8tls:1' } });
    expect(scanning).toEqual([...plain, 'batch/v1/CronJob']);
    const chosen = { intentAdapters: ['pod-security'], tlsScan: { image: 'k8tls:1' } };
    expect(await kindsWith(chosen)).not.toContain('batch/v1/CronJob');
  });

  it('the kinds of Reeve come before the rights and the Deployments that need them', async () => {
    const { documents } = await renderChart(helm4);
    const places = ['CustomResourceDefinition', 'ClusterRole', 'Deployment'].map((kind) =>
      documents.map(({ object }, index) => (object['kind'] === kind ? index : -1)).filter((at) => at >= 0),
    );
    const [definitions = [], roles = [], deployments = []] = places;
    expect(definitions).toHaveLength(7);
    expect(Math.max(...definitions)).toBeLessThan(Math.min(...roles));
    expect(Math.max(...roles)).toBeLessThan(Math.min(...deployments));
  });

  it('both versions of Helm find no fault with the chart', async () => {
    for (const helm of [helm3, helm4]) {
      const { code, stdout } = await helm(['lint', '--strict', '--namespace', 'reeve-system', chartFolder]);
      expect(code, stdout).toBe(0);
    }
  });

  it('the namespace of the release is in every namespaced object, and its own Namespace is not in the chart', async () => {
    const { documents } = await renderChart(helm4, {}, { namespace: 'platform' });
    const text = documents.map((each) => each.text).join('\n');
    expect(text.replaceAll('# The guard', '')).not.toContain('reeve-system');
    expect(text).toContain('system:serviceaccount:platform:reeve-reconciler');
    expect(documents.map(({ object }) => idOf(object))).not.toContain('v1/Namespace//platform');
  });

  it('Helm keeps the kinds, the namespaces of shared Secrets, and inline policies and shares', async () => {
    const provider = [{ name: 'p', spec: {} }];
    const apiVersions = ['NamespacePolicy', 'SecretShare'].map((kind) => `reeve.dev/v1alpha1/${kind}`);
    const { documents } = await renderChart(helm4, { policies: provider, shares: provider }, { apiVersions });
    const kept = documents.filter(({ object }) => annotationOf(object, 'helm.sh/resource-policy') === 'keep');
    expect(kept.map(({ object }) => idOf(object)).toSorted()).toEqual([
      ...kindDefinitions
        .map(({ plural }) => `apiextensions.k8s.io/CustomResourceDefinition//${plural}.reeve.dev`)
        .toSorted(),
      'reeve.dev/NamespacePolicy//p',
      'reeve.dev/SecretShare//p',
      'v1/Namespace//reeve-shared',
    ]);
  });

  it('with webhook.hostNetwork, the webhook alone uses the network of its nodes, and an update frees a port first', async () => {
    const webhook = { hostNetwork: true, port: 10250, probesPort: 9081 };
    const { documents } = await renderChart(helm4, { webhook });
    const deployments = documents.filter(({ object }) => object['kind'] === 'Deployment');
    expect(deployments.map(({ object }) => [nameOf(object), ...onNode(object['spec'])])).toEqual([
      ['reeve-webhook', true, { maxUnavailable: 1, maxSurge: 0 }, 10250, 9081],
      ['reeve-reconciler', undefined, { maxUnavailable: 0, maxSurge: 1 }, 8081],
    ]);
    const single = await renderChart(helm4, { ha: { enabled: false }, webhook });
    const pod = single.documents.find(({ object }) => object['kind'] === 'Deployment');
    expect(onNode(pod?.object['spec'])).toEqual([true, { maxUnavailable: 1, maxSurge: 0 }, 10250, 9081]);
  });

  const wrong: readonly (readonly [path: string, value: unknown, sentence: RegExp])[] = [
    ['replicas', 3, /additional properties 'replicas' not allowed/],
    ['webhook.replicas', 'two', /at '\/webhook\/replicas': got string, want integer/],
    ['webhook.replicas', 0, /at '\/webhook\/replicas': minimum: got 0, want 1/],
    [
      'webhook.failurePolicy',
      'Maybe',
      /at '\/webhook\/failurePolicy': value must be one of 'Ignore', 'Fail', 'Off'/,
    ],
    [
      'webhook.resources',
      { limits: { memory: '512' } },
      /at '\/webhook\/resources\/limits\/memory': '512' does not match/,
    ],
    ['webhook.port', 443, /at '\/webhook\/port': minimum: got 443, want 1,?024/],
    ['webhook.port', 8081, /webhook\.port and webhook\.probesPort are both 8081\. Use two ports/],
    ['bindableClusterRoles', 'view', /at '\/bindableClusterRoles': got string, want array/],
    ['resourceKinds', ['v1/ConfigMap'], /at '\/resourceKinds\/0': got string, want object/],
    ['resourceKinds', [], /at '\/resourceKinds': minItems: got 0, want 1/],
    [
      'intentAdapters',
      ['network', 'netwrok'],
      /at '\/intentAdapters\/1': value must be one of 'pod-security', /,
    ],
    ['intentAdapters', [], /at '\/intentAdapters': minItems: got 0, want 1/],
    ['tlsScan.image', 'k8tls: 1', /at '\/tlsScan\/image': 'k8tls: 1' does not match pattern/],
    ['sharedNamespaces', ['Shared'], /at '\/sharedNamespaces\/0': 'Shared' does not match pattern/],
    ['sharedNamespaces', ['reeve-system'], /sharedNamespaces: reeve-system is the namespace of Reeve itself/],
    [
      'certificates.source',
      'vault',
      /at '\/certificates\/source': value must be one of 'self', 'cert-manager', 'files'/,
    ],
    [
      'certificates.source',
      'files',
      /certificates\.secretName: name the Secret with tls\.crt, tls\.key and ca\.crt/,
    ],
    ['sharedNamespaces', [], /at '\/sharedNamespaces': minItems: got 0, want 1/],
    [
      'certificates.secretName',
      'tls',
      /certificates\.secretName: the source self does not read it\. Set certificates\.source=files/,
    ],
    [
      'certificates.issuerRef',
      { kind: 'ClusterIssuer', name: 'company' },
      /certificates\.issuerRef: the source self does not read it\. Set certificates\.source=cert-manager/,
    ],
    [
      'certificates',
      { source: 'cert-manager', issuerRef: { kind: 'ClusterIssuer' } },
      /at '\/certificates\/issuerRef': properties 'name' required, if 'kind' exists/,
    ],
    ['tolerations', [{ kee: 'dedicated' }], /at '\/tolerations\/0': additional properties 'kee' not allowed/],
    [
      'image.repository',
      'registry.example.com/reeve:0.1.0',
      /at '\/image\/repository': 'registry\.example\.com\/reeve:0\.1\.0' does not match pattern/,
    ],
    ['image.digest', 'latest', /at '\/image\/digest': 'latest' does not match pattern/],
    [
      'extraArgs',
      ['--namespace=other'],
      /extraArgs: --namespace is a flag that another value of the chart sets/,
    ],
    ['policies', [{ spec: {} }], /at '\/policies\/0': missing property 'name'/],
  ];

  describe.each(wrong)('a wrong %s (%j)', (path, value, sentence) => {
    it('a wrong value is refused by both versions of Helm, with a sentence that names the value', async () => {
      for (const helm of [helm3, helm4])
        expect(await refusal(helm, withValue({}, path, value))).toMatch(sentence);
    });
  });

  it('Helm 3 refuses to create policies with the first install, and says what to do', async () => {
    const set = { policies: [{ name: 'p', spec: {} }] };
    expect(await refusal(helm3, set)).toContain('Install without them, then add them with helm upgrade');
    const apiVersions = ['NamespacePolicy', 'SecretShare'].map((kind) => `reeve.dev/v1alpha1/${kind}`);
    expect(await refusal(helm3, set, { apiVersions })).toBe('not refused');
  });

  it('an install into the namespace default is refused with the flags to add', async () => {
    for (const helm of [helm3, helm4])
      expect(await refusal(helm, {}, { namespace: 'default' })).toContain(
        'Add: --namespace reeve-system --create-namespace',
      );
  });
});
