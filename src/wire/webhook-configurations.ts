// Keeps the webhook configurations as they should be: applied by one replica once it serves, and again when they differ.
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../api/kube-error.ts';
import type { KubeObject, ObjectRef } from '../api/kube-object.ts';
import type { ObjectWriter } from '../kube/object-writer.ts';
import type { Log } from '../observe/log.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import {
  judgedKinds,
  saysNoMore,
  versionAnnotation,
  webhookConfigurations,
  type WebhookConfigurations,
  type WebhookTemplates,
} from '../state/webhook-configurations.ts';
import { isNewer } from '../state/program-version.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { excludedNamespaces, type InstallSettings } from './cluster-view.ts';
import { elect, type Election } from './election.ts';
import { pacing } from './pacing.ts';
import { reconcilerAccount } from './reconciler-role.ts';
import { readProgramVersion, readWebhookTemplates } from './shipped-files.ts';

export interface ConfigurationSettings extends InstallSettings {
  readonly serviceName: string;
  /** 0: the one that reviews are answered on. */
  readonly servicePort: number;
  readonly secretsRbacFailurePolicy: 'Ignore' | 'Fail';
  readonly leaderElect: boolean;
}

export interface KeeperContext {
  readonly connection: ClusterConnection;
  readonly cluster: LiveCluster;
  readonly log: Log;
  readonly fail: (error: unknown) => void;
}

const leaseName = 'reeve-webhook';
/** The ClusterRole with which the garbage collector removes the configurations. */
const ownerRole: ObjectRef = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  name: 'reeve-webhook',
};
/** How often what is there is compared with what should be, when no policy changes. */
const checkMs = 10_000;

/** Call it once reviews are answered: until then nobody must be sent here. */
export function keepConfigurations(
  settings: ConfigurationSettings,
  caPem: string,
  { connection, cluster, log, fail }: KeeperContext,
): Election {
  const { client } = connection;
  return elect(
    client,
    { ...settings, name: leaseName },
    log,
    async (signal) => {
      const [templates, version] = await Promise.all([readWebhookTemplates(), readProgramVersion()]);
      const keeper = new ConfigurationKeeper(connection.writer, settings, { caPem, templates, version }, log);
      await keeper.run(cluster, signal);
    },
    fail,
  );
}

interface Shipped {
  readonly caPem: string;
  readonly templates: WebhookTemplates;
  readonly version: string;
}

interface Applied {
  readonly wanted: KubeObject;
  readonly resourceVersion: unknown;
}

class ConfigurationKeeper {
  readonly #writer: ObjectWriter;
  readonly #settings: ConfigurationSettings;
  readonly #shipped: Shipped;
  readonly #log: Log;
  readonly #applied = new Map<string, Applied>();

  constructor(writer: ObjectWriter, settings: ConfigurationSettings, shipped: Shipped, log: Log) {
    this.#writer = writer;
    this.#settings = settings;
    this.#shipped = shipped;
    this.#log = log;
  }

  async run(cluster: LiveCluster, signal: AbortSignal): Promise<void> {
    let change = Promise.withResolvers<void>();
    const unsubscribe = cluster.subscribe((each) => {
      // A status that is written changes nothing of what there are rules for.
      if (each.kind === 'owner' && each.before?.definition !== each.after?.definition) change.resolve();
    });
    try {
      while (!signal.aborted) {
        // What changes from here on may come too late for this round, and begins another one.
        change = Promise.withResolvers<void>();
        // Before the policies are known, nobody can say which kinds they have rules for.
        if (cluster.isSynced) await this.#tryToKeep(cluster, signal);
        await untilDue(change.promise, cluster.isSynced ? checkMs : 50, signal);
      }
    } finally {
      unsubscribe();
    }
  }

  async #tryToKeep(cluster: LiveCluster, signal: AbortSignal): Promise<void> {
    try {
      const role = await this.#writer.read(ownerRole, { signal });
      if (role?.metadata.uid === undefined) {
        this.#log.warn('webhook configurations not applied: the install lacks a ClusterRole', {
          name: ownerRole.name,
        });
        return;
      }
      const { validating, mutating } = this.#wanted(cluster, role.metadata.uid);
      for (const configuration of [mutating, validating]) await this.#keep(configuration, signal);
    } catch (error) {
      if (!(error instanceof KubeError)) {
        if (signal.aborted) return;
        throw error;
      }
      const { code, reason } = error;
      this.#log.warn('webhook configurations not applied', { code, reason });
    }
  }

  #wanted(cluster: LiveCluster, ownerUid: string): WebhookConfigurations {
    const { namespace, serviceName, servicePort, secretsRbacFailurePolicy } = this.#settings;
    return webhookConfigurations(this.#shipped.templates, {
      caBundle: this.#shipped.caPem,
      service: { namespace, name: serviceName, port: servicePort },
      excludedNamespaces: excludedNamespaces(this.#settings),
      reconcilerUsername: `system:serviceaccount:${namespace}:${reconcilerAccount}`,
      failurePolicyOfSecretsAndRbac: secretsRbacFailurePolicy,
      judged: judgedKinds(cluster.snapshot().policies),
      owner: { name: ownerRole.name, uid: ownerUid },
      version: this.#shipped.version,
    });
  }

  async #keep(wanted: KubeObject, signal: AbortSignal): Promise<void> {
    const ref = refOf(wanted);
    const { kind } = ref;
    const live = (await this.#writer.read(ref, { signal }))?.metadata;
    const version = live?.annotations?.[versionAnnotation];
    if (isNewer(version, this.#shipped.version)) {
      this.#log.warn('webhook configuration left to a newer version', { kind, version: version ?? '' });
      return;
    }
    if (live !== undefined && this.#isApplied(wanted, live)) return;
    const { resourceVersion } = (await this.#store(wanted, signal)).metadata;
    this.#applied.set(kind, { wanted, resourceVersion });
    if (resourceVersion !== live?.['resourceVersion'])
      this.#log.info('webhook configuration applied', { kind });
  }

  async #store(wanted: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const stored = await this.#writer.apply(wanted, { force: true, signal });
    if (saysNoMore(stored['webhooks'], wanted['webhooks'])) return stored;
    const { resourceVersion } = stored.metadata;
    // The list as a whole: an apply does not remove what others have added to it.
    const whole = { metadata: { resourceVersion }, webhooks: wanted['webhooks'] };
    return await this.#writer.mergePatch(refOf(wanted), whole, { signal });
  }

  /** Neither has anybody written it since, nor should it be something else by now. */
  #isApplied(wanted: KubeObject, live: KubeObject['metadata']): boolean {
    const applied = this.#applied.get(wanted.kind ?? '');
    return applied?.resourceVersion === live['resourceVersion'] && isDeepStrictEqual(applied?.wanted, wanted);
  }
}

function refOf({ apiVersion = '', kind = '', metadata: { name = '' } }: KubeObject): ObjectRef {
  return { apiVersion, kind, name };
}

/** Soon after a policy has changed, else when it is time to look again. */
async function untilDue(changed: Promise<void>, waitMs: number, signal: AbortSignal): Promise<void> {
  const slept = new AbortController();
  const ended = AbortSignal.any([signal, slept.signal]);
  try {
    await Promise.race([changed, pacing.sleep(waitMs, ended).catch(() => undefined)]);
  } finally {
    slept.abort();
  }
}
