// Elects one replica, which keeps the two webhook configurations.
import type { CaBundle } from '../certs/pair-source.ts';
import { ConfigurationMetrics } from '../observe/configuration-metrics.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import type { HookMode } from '../policy/compile/applicable-rules.ts';
import { drifts } from '../registration/configuration-drift.ts';
import { keepConfigurations } from '../registration/keep-configurations.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { systemClock } from '../base/clock.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { excludedNamespaces, type InstallSettings } from './cluster-view.ts';
import { elect, type Election } from './election.ts';
import { registrationObserver, type ActivityObserver } from './observers.ts';
import { reconcilerAccount } from './install-roles.ts';
import { readProgramVersion } from './shipped-files.ts';
import { readWebhookTemplates } from './webhook-templates.ts';

export interface RegistrationSettings extends InstallSettings {
  readonly serviceName: string;
  readonly servicePort: number;
  readonly secretsRbacFailurePolicy: HookMode;
  readonly leaderElect: boolean;
}

export interface RegistrationContext {
  readonly connection: ClusterConnection;
  readonly cluster: LiveCluster;
  readonly registry: MetricsRegistry;
  readonly log: Log;
  readonly activity: ActivityObserver;
  readonly fail: (error: unknown) => void;
}

const leaseName = 'reeve-webhook';
const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
/** Until the endpoints of the Service contain a Pod that is ready, and every API server knows them. */
const endpointsMs = 10_000;

/** Call it once this process answers reviews: API servers send them as soon as a configuration exists. */
export function startRegistration(
  settings: RegistrationSettings,
  bundle: CaBundle,
  { connection, cluster, registry, log, activity, fail }: RegistrationContext,
): Election {
  const { client, writer, isOfPod } = connection;
  const { namespace, serviceName, servicePort, secretsRbacFailurePolicy } = settings;
  const observer = registrationObserver(log, new ConfigurationMetrics(registry, kinds, drifts), activity);
  const startedAt = systemClock.monotonic();
  const isReachable = (): boolean => !isOfPod || systemClock.monotonic() - startedAt >= endpointsMs;
  return elect(
    client,
    { ...settings, name: leaseName },
    log,
    async (signal) => {
      const [templates, version] = await Promise.all([readWebhookTemplates(), readProgramVersion()]);
      const options = {
        service: { namespace, name: serviceName, port: servicePort },
        excludedNamespaces: excludedNamespaces(settings),
        reconcilerUsername: `system:serviceaccount:${namespace}:${reconcilerAccount}`,
        secretsAndRbac: secretsRbacFailurePolicy,
        version,
      };
      const ports = { store: writer, bundle, cluster, observer, isReachable };
      await keepConfigurations(templates, options, ports, signal);
    },
    fail,
  );
}
