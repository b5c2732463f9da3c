// Runs Kyverno's admission and background controllers, with the flags of its own manifest, as the administrator of a control plane.
import { join } from 'node:path';
import { send } from '../../cluster/admin-client.ts';
import { freePorts } from '../../cluster/ports.ts';
import { until } from '../../support/until.ts';
import { installManifests } from './peer-manifests.ts';
import { startGuarded, type GuardedProcess } from '../guarded-process.ts';
import { serverCore } from '../cores.ts';
import type { PeerPlane } from './peer-plane.ts';
import type { PeerPrograms } from './peer-programs.ts';

const namespace = 'kyverno';
export const kyvernoPath = '/validate/fail?timeout=10s';

export interface Kyverno extends AsyncDisposable {
  readonly port: number;
  readonly admission: GuardedProcess;
  readonly background: GuardedProcess;
}

export async function startKyverno(
  { cluster, guard }: Pick<PeerPlane, 'cluster' | 'guard'>,
  { folder, paths }: PeerPrograms,
): Promise<Kyverno> {
  await installManifests(cluster, join(folder, 'config/install-latest-testing.yaml'));
  // Kyverno refuses a policy when its accounts could not read and write what the policy generates.
  await cluster.admin.mustSend('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'kyverno-generates' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: ['kyverno-admission-controller', 'kyverno-background-controller'].map((name) => ({
      kind: 'ServiceAccount',
      name,
      namespace,
    })),
  });
  const [port = 0, metrics = 0, backgroundMetrics = 0] = await freePorts(3);
  const start = (name: string, deployment: string, args: readonly string[]): Promise<GuardedProcess> =>
    startGuarded(
      {
        name,
        program: paths[name] ?? '',
        args: [`--kubeconfig=${cluster.kubeconfig}`, ...commonFlags, ...args],
        env: { ...environment, KYVERNO_DEPLOYMENT: deployment, KYVERNO_SERVICEACCOUNT_NAME: deployment },
        folder: cluster.folder,
        core: serverCore,
      },
      guard,
    );
  const admission = await start('kyvernoadmission', 'kyverno-admission-controller', [
    ...admissionFlags,
    `--serverIP=127.0.0.1:${port}`,
    '--webhookServerHost=127.0.0.1',
    `--webhookServerPort=${port}`,
    `--metricsPort=${metrics}`,
  ]);
  const url = `https://127.0.0.1:${port}/health/readiness`;
  await until(
    async () => (await send(url, { rejectUnauthorized: false }).catch(() => undefined))?.status === 200,
    () => 'Kyverno is ready',
    120,
  );
  const background = await start('kyvernobackground', 'kyverno-background-controller', [
    `--metricsPort=${backgroundMetrics}`,
  ]);
  const end = async (): Promise<void> => {
    await background[Symbol.asyncDispose]();
    await admission[Symbol.asyncDispose]();
  };
  return { port, admission, background, [Symbol.asyncDispose]: end };
}

const environment = {
  INIT_CONFIG: 'kyverno',
  METRICS_CONFIG: 'kyverno-metrics',
  KYVERNO_NAMESPACE: namespace,
  KYVERNO_POD_NAME: 'kyverno',
  KYVERNO_SVC: 'kyverno-svc',
};

const commonFlags = [
  '--metricsHost=127.0.0.1',
  '--controllerRuntimeMetricsAddress=0',
  '--resyncPeriod=15m',
  '--enableConfigMapCaching=true',
  '--enableDeferredLoading=true',
  '--omitEvents=PolicyApplied,PolicySkipped',
  '--loggingFormat=text',
  '--v=2',
];

const admissionFlags = [
  '--caSecretName=kyverno-svc.kyverno.svc.kyverno-tls-ca',
  '--tlsSecretName=kyverno-svc.kyverno.svc.kyverno-tls-pair',
  '--backgroundServiceAccountName=system:serviceaccount:kyverno:kyverno-background-controller',
  '--reportsServiceAccountName=system:serviceaccount:kyverno:kyverno-reports-controller',
];
