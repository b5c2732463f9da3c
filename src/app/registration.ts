// Elects one replica to keep the webhook configurations, and writes what it does to the log and the metrics.
import type { CaBundle } from '../certs/pair-source.ts';
import { ConfigurationMetrics } from '../observe/configuration-metrics.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import type { HookMode } from '../policy/compile/applicable-rules.ts';
import { differenceText, faults } from '../registration/configuration-drift.ts';
import { keepConfigurations } from '../registration/keep-configurations.ts';
import type { RegistrationObserver } from '../registration/ports.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { systemClock } from '../base/clock.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { excludedNamespaces, type InstallSettings } from './cluster-view.ts';
import { elect, type Election } from './election.ts';
import { reconcilerAccount } from './reconciler-role.ts';
import { readProgramVersion, readWebhookTemplates } from './shipped-files.ts';

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
  { connection, cluster, registry, log, fail }: RegistrationContext,
): Election {
  const { client, writer, isOfPod } = connection;
  const { namespace, serviceName, servicePort, secretsRbacFailurePolicy } = settings;
  const observer = registrationObserver(log, new ConfigurationMetrics(registry, kinds, faults));
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

export function registrationObserver(log: Log, metrics: ConfigurationMetrics): RegistrationObserver {
  return {
    applied: (kind) => log.info('webhook configuration applied', { kind }),
    repaired: (kind, differences) => {
      const found = differences.map(differenceText);
      log.warn('webhook configuration was changed by others', { kind, found });
      for (const fault of new Set(differences.map((each) => each.fault))) metrics.repaired(kind, fault);
    },
    notApplied: ({ code, reason }) => log.warn('webhook configurations not applied', { code, reason }),
    roleMissing: (name) =>
      log.warn('webhook configurations not applied: the install lacks a ClusterRole', { name }),
    leftToNewer: (kind, version) =>
      log.warn('webhook configuration left to a newer version', { kind, version }),
    bundleMissing: (kind, webhooks) =>
      log.warn('webhooks lack a caBundle, and refuse nothing until they have one', { kind, webhooks }),
  };
}
