// Keeps the webhook configurations as they should be: by one replica, once it serves, again and again.
import type { Log } from '../observe/log.ts';
import { ConfigurationMetrics } from '../observe/configuration-metrics.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import { faults } from './configuration-drift.ts';
import { judgedKinds, type HookMode } from '../policy/compile/applicable-rules.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import {
  webhookConfigurations,
  type WebhookOptions,
  type WebhookTemplates,
} from './wanted-configurations.ts';
import type { CaBundle } from '../certs/authority/ca-bundle.ts';
import type { ClusterConnection } from '../app/cluster-connection.ts';
import { excludedNamespaces, type InstallSettings } from '../app/cluster-view.ts';
import { ConfigurationKeeper, ownerRole, type WantedConfigurations } from './configuration-keeper.ts';
import { elect, type Election } from '../app/election.ts';
import { systemClock } from '../base/clock.ts';
import { reconcilerAccount } from '../app/reconciler-role.ts';
import { readProgramVersion, readWebhookTemplates } from '../app/shipped-files.ts';
import { InterruptiblePause } from '../base/pause.ts';

export interface ConfigurationSettings extends InstallSettings {
  readonly serviceName: string;
  /** 0: the one that reviews are answered on. */
  readonly servicePort: number;
  readonly secretsRbacFailurePolicy: HookMode;
  readonly leaderElect: boolean;
}

export interface KeeperContext {
  readonly connection: ClusterConnection;
  readonly cluster: LiveCluster;
  readonly registry: MetricsRegistry;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

const leaseName = 'reeve-webhook';
const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
/** How often what is there is compared with what should be, when no policy changes. */
const checkMs = 5000;
const retryMs = 1000;
const syncMs = 50;
/** Until a Pod that is ready is told to the Service, and by that to all who lead to it. */
const endpointsMs = 10_000;

/** Call it once reviews are answered: until then nobody must be sent here. */
export function keepConfigurations(
  settings: ConfigurationSettings,
  bundle: CaBundle,
  { connection, cluster, registry, log, fail }: KeeperContext,
): Election {
  const { client, writer } = connection;
  const metrics = new ConfigurationMetrics(registry, kinds, faults);
  const startedAt = systemClock.monotonic();
  const isReachable = (): boolean =>
    !connection.isOfPod || systemClock.monotonic() - startedAt >= endpointsMs;
  return elect(
    client,
    { ...settings, name: leaseName },
    log,
    async (signal) => {
      const [templates, version] = await Promise.all([readWebhookTemplates(), readProgramVersion()]);
      const keeper = new ConfigurationKeeper({ writer, bundle, log, metrics, isReachable }, version);
      const wantedFor = wantedBy(settings, cluster, templates, version);
      await keepUntil(signal, { cluster, bundle }, () => keeper.tryToKeep(wantedFor, signal));
    },
    fail,
  );
}

function wantedBy(
  settings: ConfigurationSettings,
  cluster: LiveCluster,
  templates: WebhookTemplates,
  version: string,
): WantedConfigurations {
  const { namespace, serviceName, servicePort } = settings;
  const fixed: Omit<WebhookOptions, 'caBundle' | 'judged' | 'owner'> = {
    service: { namespace, name: serviceName, port: servicePort },
    excludedNamespaces: excludedNamespaces(settings),
    reconcilerUsername: `system:serviceaccount:${namespace}:${reconcilerAccount}`,
    secretsAndRbac: settings.secretsRbacFailurePolicy,
    version,
  };
  return (caBundle, uid) => {
    const judged = judgedKinds(cluster.snapshot().policies);
    return webhookConfigurations(templates, {
      ...fixed,
      caBundle,
      judged,
      owner: { name: ownerRole.name, uid },
    });
  };
}

interface Causes {
  readonly cluster: LiveCluster;
  readonly bundle: CaBundle;
}

/** Whenever one of the causes has changed, and from time to time; soon again after a failure. */
async function keepUntil(
  signal: AbortSignal,
  { cluster, bundle }: Causes,
  keep: () => Promise<boolean>,
): Promise<void> {
  const pause = new InterruptiblePause(systemClock);
  const endings = [
    cluster.subscribe((each) => {
      // A status that is written changes nothing of what there are rules for.
      if (each.kind === 'owner' && each.before?.definition !== each.after?.definition) pause.interrupt();
    }),
    bundle.subscribe(() => pause.interrupt()),
  ];
  try {
    while (!signal.aborted) {
      // Before the policies are known, nobody can say which kinds they have rules for.
      const waitMs = !cluster.isSynced ? syncMs : (await keep()) ? checkMs : retryMs;
      // What has changed meanwhile may have come too late for this round, and begins another one.
      await pause.wait(waitMs, signal);
    }
  } finally {
    for (const end of endings) end();
  }
}
