// Scans of TLS on a real API server, with the account, the rights and the jail of the chart for an install that names a scanner.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownMember, type JsonObject } from '../../src/base/json.ts';
import { neededHelm } from '../chart/helm-versions.ts';
import { renderChart } from '../checks/chart/rendered-chart.ts';
import { startControlPlane, type ControlPlane } from '../cluster/control-plane.ts';
import { installReeve } from '../cluster/reeve-install.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { startReeve, type Reeve } from '../support/reeve.ts';
import { describeControllers } from '../support/shared-cluster.ts';
import { inTime } from './support/in-time.ts';
import { clusterBinding, intent, namespaceObject, type Kind, type Ref } from './support/objects.ts';
import { Stage } from './support/stage.ts';

const image = 'registry.example/k8tls:1';
const values = { intentAdapters: ['tls-scan'], tlsScan: { image } };
const samples = 'manifests/samples/intents/cluster-wide';
const namespaces = ['shop', 'payments', 'tls-scans'];

describeControllers('scans of TLS', () => {
  // Its own cluster: one sample matches every namespace, and the rights are those of other values.
  let cluster: ControlPlane;
  let reeve: Reeve;
  let stage: Stage;

  beforeAll(async () => {
    cluster = await startControlPlane();
    await installReeve(cluster);
    const { documents } = await renderChart(await neededHelm(4), values);
    const installed = documents.map(({ object }) => object);
    // A control plane without nodes has no Pods, and the Service of the tests leads to this machine.
    const items = installed.filter(({ apiVersion }) =>
      /^(?:rbac|admissionregistration)/.test(String(apiVersion)),
    );
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const apply = ['apply', '--server-side', '--force-conflicts', '-f', '-'];
    await mustKubectl(apply, { kubeconfig: cluster.kubeconfig, input });
    reeve = await startReeve(cluster, { args: flagsOf(installed) });
    stage = new Stage(cluster, 'is-');
    await stage.apply(...namespaces.map((name) => namespaceObject(name)));
  });
  afterAll(async () => {
    await reeve.stop();
    await cluster.stop();
  });

  const binding = (name: string): Ref => ({ kind: 'ClusterSecurityIntentBinding', name });
  const owner = (name: string): string => `ClusterSecurityIntentBinding/${name}`;
  const everywhere = (kind: Kind, name: string): readonly Ref[] =>
    namespaces.map((namespace) => ({ kind, namespace, name }));
  const ownersOf = async (kind: Kind, name: string): Promise<readonly string[]> =>
    await stage.ownersOf(...everywhere(kind, name));
  const specOf = async (namespace: string, name: string): Promise<unknown> =>
    (await stage.get({ kind: 'CronJob', namespace, name }))?.['spec'];

  test('the first sample gives a CronJob with the image in each namespace, and its deletion removes all', async () => {
    await stage.kubectl('apply', '-f', `${samples}/assess-tls-default.yaml`);
    const own = owner('assess-tls-default');
    await inTime(() => ownersOf('CronJob', 'assess-tls')).toEqual([own, own, own]);
    const spec = await specOf('payments', 'assess-tls');
    expect(spec).toMatchObject({ schedule: '@daily' });
    expect(JSON.stringify(spec)).toContain(`"image":"${image}"`);
    await inTime(() => stage.condition(binding('assess-tls-default'))).toMatch(/^True /);
    await stage.remove(binding('assess-tls-default'));
    expect(await ownersOf('CronJob', 'assess-tls')).toEqual(['absent', 'absent', 'absent']);
  });

  test('a sample with params.namespace gives a CronJob and a ConfigMap with the addresses only there', async () => {
    await stage.kubectl('apply', '-f', `${samples}/assess-tls-with-external-addresses.yaml`);
    // The match of the sample is this namespace alone. With a wider match the others get nothing either.
    const wider = clusterBinding('is-wider', ['*'], ['assess-tls-of-partners']);
    await stage.apply(wider);
    await inTime(() => stage.condition(binding('is-wider'))).toMatch(/^True /);
    const own = owner('assess-tls-with-external-addresses');
    for (const kind of ['CronJob', 'ConfigMap'] as const)
      await inTime(() => ownersOf(kind, 'assess-tls-of-partners')).toEqual(['absent', 'absent', own]);
    await stage.remove(binding('is-wider'), binding('assess-tls-with-external-addresses'));
    for (const kind of ['CronJob', 'ConfigMap'] as const)
      expect(await ownersOf(kind, 'assess-tls-of-partners')).toEqual(['absent', 'absent', 'absent']);
  });

  test('a sample with a schedule gives it to the CronJob, and a changed schedule changes the same CronJob', async () => {
    await stage.kubectl('apply', '-f', `${samples}/assess-tls-with-schedule.yaml`);
    const cronJob: Ref = { kind: 'CronJob', namespace: 'shop', name: 'assess-tls-hourly' };
    await inTime(() => specOf('shop', 'assess-tls-hourly')).toMatchObject({ schedule: '0 * * * *' });
    const before = await stage.uidsOf(cronJob);
    await stage.apply(intent('assess-tls-hourly', 'assessTLS', { params: { schedule: '30 * * * *' } }));
    await inTime(() => specOf('shop', 'assess-tls-hourly')).toMatchObject({ schedule: '30 * * * *' });
    expect(await stage.uidsOf(cronJob)).toEqual(before);
    await stage.remove(binding('assess-tls-with-schedule'));
    expect(await stage.ownersOf(cronJob)).toEqual(['absent']);
  });

  test('a params.namespace outside of the match is a warning and a status, until the match has it', async () => {
    const ref = binding('is-outside');
    const elsewhere = { params: { namespace: 'payments' } };
    await stage.apply(intent('is-elsewhere', 'assessTLS', elsewhere));
    const { stderr } = await stage.tryApply([clusterBinding('is-outside', ['shop'], ['is-elsewhere'])]);
    expect(stderr).toContain('does not match namespace payments');
    await inTime(() => stage.condition(ref, 'IntentsResolved')).toBe('False Unsupported');
    await inTime(() => stage.condition(ref)).toBe('False Unsupported');
    const { status } = await stage.mustGet(ref);
    expect(status?.unsupported).toMatchObject([{ intent: 'is-elsewhere', id: 'assessTLS' }]);
    expect(status?.rendered).toEqual([]);
    await stage.apply(clusterBinding('is-outside', ['shop', 'payments'], ['is-elsewhere']));
    await inTime(() => ownersOf('CronJob', 'is-elsewhere')).toEqual([
      'absent',
      owner('is-outside'),
      'absent',
    ]);
    await inTime(() => stage.condition(ref)).toMatch(/^True /);
    await stage.remove(ref);
    expect(await ownersOf('CronJob', 'is-elsewhere')).toEqual(['absent', 'absent', 'absent']);
  });
});

/** The flags of the chart that say what Reeve provides. Those of places and ports are the test's own. */
function flagsOf(installed: readonly JsonObject[]): readonly string[] {
  const reconciler = installed.find(
    (object) =>
      object['kind'] === 'Deployment' &&
      ownMember(ownMember(object, 'metadata'), 'name') === 'reeve-reconciler',
  );
  const flags = JSON.stringify(reconciler).matchAll(
    /"(--(?:resource-kind|intent-adapter|tls-scan-image)=[^"]+)"/g,
  );
  return [...flags].map(([, flag = '']) => flag);
}
