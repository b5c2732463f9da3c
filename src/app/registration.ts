// Elects one replica, which keeps the two webhook configurations.
import type { CaBundle } from '../certs/ports.ts';
import { ConfigurationMetrics, registrationObserver } from '../observe/certificates.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import { reconcilerAccount } from '../schema/names.ts';
import type { Install } from '../policy/terms/install.ts';
import type { HookMode } from '../policy/compile/snapshot.ts';
import { drifts } from '../registration/configuration-drift.ts';
import { keepConfigurations, serviceReached } from '../registration/keep-configurations.ts';
import { serviceTrial } from '../kube/service-proxy.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import { systemClock } from '../base/clock.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { elect, type Election } from './election.ts';
import type { ActivityObserver } from '../observe/activity.ts';
import { readProgramVersion, shippedFolder } from './shipped-files.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { parseYaml } from '../base/yaml.ts';
import type { WebhookTemplates } from '../registration/wanted-configurations.ts';

export interface RegistrationSettings {
  readonly namespace: string;
  readonly serviceName: string;
  readonly servicePort: number;
  readonly secretsRbacFailurePolicy: HookMode;
  readonly leaderElect: boolean;
}

interface RegistrationContext {
  readonly connection: ClusterConnection;
  readonly cluster: LiveCluster;
  readonly install: Install;
  readonly registry: MetricsRegistry;
  readonly log: Log;
  readonly activity: ActivityObserver;
  readonly fail: (error: unknown) => void;
}

const leaseName = 'reeve-webhook';
const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

/** Call it once this process answers reviews, because API servers send them as soon as a configuration exists. */
export function startRegistration(
  settings: RegistrationSettings,
  bundle: CaBundle,
  { connection, cluster, install, registry, log, activity, fail }: RegistrationContext,
): Election {
  const { client, writer, isOfPod } = connection;
  const { namespace, serviceName, servicePort, secretsRbacFailurePolicy } = settings;
  const observer = registrationObserver(log, new ConfigurationMetrics(registry, kinds, drifts), activity);
  return elect(
    client,
    { ...settings, name: leaseName },
    log,
    async (signal) => {
      const [templates, version] = [await readWebhookTemplates(), readProgramVersion()];
      const service = { namespace, name: serviceName, port: servicePort };
      const options = {
        service,
        excludedNamespaces: install.excludedNamespaces,
        reconcilerUsername: `system:serviceaccount:${namespace}:${reconcilerAccount}`,
        secretsAndRbac: secretsRbacFailurePolicy,
        version,
      };
      // Outside of a Pod, no Service leads here, and the configurations name the address of this process.
      const reached = isOfPod
        ? serviceReached(serviceTrial(client, service, signal), systemClock, signal)
        : Promise.resolve();
      const ports = { store: writer, bundle, cluster, observer, reached };
      await keepConfigurations(templates, options, ports, signal);
    },
    fail,
  );
}

// Reads the templates of the webhook configurations, which ship beside the code.

async function readWebhookTemplates(): Promise<WebhookTemplates> {
  const [validating, mutating] = await Promise.all([
    readTemplate('validating.yaml'),
    readTemplate('mutating.yaml'),
  ]);
  return { validating, mutating };
}

async function readTemplate(name: string): Promise<JsonObject> {
  const path = join(shippedFolder('webhooks'), name);
  const [document] = parseYaml(await readFile(path, 'utf8')).documents;
  if (document?.kind !== 'data' || !isJsonObject(document.value))
    throw new Error(`${name} is not as it was shipped`);
  return document.value;
}
