// Starts the role "webhook" on a cluster: the server, its certificates and its webhook configurations.
import type { ServerLimits } from '../admission/http/limits.ts';
import type { ObjectRef } from '../base/metadata.ts';
import { createAccessReviewer } from '../kube/access-review.ts';
import type { AdmissionMetrics } from '../observe/admission.ts';
import { CertificateMetrics, certificateObserver } from '../observe/certificates.ts';
import { reconcilerAccount } from '../schema/names.ts';
import type { Requester } from '../rules/rule.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/registry.ts';
import type { LiveCluster } from '../state/live-cluster.ts';
import type { Standing } from '../state/stored-provider.ts';
import type { Install } from '../policy/terms/install.ts';
import { startAdmission, type AdmissionSettings, type RunningAdmission } from './admission-server.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { openSharedAuthority, type SharedAuthoritySettings } from '../certs/authority/shared-authority.ts';
import { openGivenPair, type PairSettings } from '../certs/files/pair-files.ts';
import type { SecretWatch } from '../certs/ports.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import { startRegistration, type RegistrationSettings } from './registration.ts';
import type { Watches } from './watches.ts';
import type { ActivityObserver } from '../observe/activity.ts';
import type { Tracing } from './tracing.ts';
import { createNamespaceFinder } from '../kube/object-writer.ts';

export interface WebhookRoleSettings
  extends AdmissionSettings, RegistrationSettings, PairSettings, SharedAuthoritySettings {
  readonly manageWebhooks: boolean;
}

export interface WebhookContext {
  readonly connection: ClusterConnection;
  readonly cluster: LiveCluster;
  readonly install: Install;
  readonly watches: Watches;
  readonly log: Log;
  readonly metrics: AdmissionMetrics;
  readonly registry: MetricsRegistry;
  readonly activity: ActivityObserver;
  readonly tracing: Tracing;
  readonly limits: ServerLimits;
  readonly fail: (error: unknown) => void;
}

export interface RunningWebhookRole extends Pick<RunningAdmission, 'isTrustworthy'> {
  readonly url: string;
  stop(graceMs: number, signal: AbortSignal): Promise<void>;
}

/** Rejects with a StartError, or with the reason of the signal, which aborts the wait for a certificate. */
export async function startWebhookRole(
  settings: WebhookRoleSettings,
  context: WebhookContext,
  starting: AbortSignal,
): Promise<RunningWebhookRole> {
  const { connection, cluster, install, watches, log, metrics, registry, limits, fail } = context;
  const sources = {
    snapshot: () => (cluster.isSynced ? cluster.snapshot() : undefined),
    namespaces: createNamespaceFinder(connection.client),
    access: createAccessReviewer(connection.client),
    ownAccount: reconcilerIdentity(settings),
    claims: install.namespaceClaims
      ? { find: (claim: ObjectRef, signal: AbortSignal) => connection.writer.read(claim, signal) }
      : undefined,
    install,
  };
  countPolicies(cluster, metrics);
  const observer = certificateObserver(log, new CertificateMetrics(registry));
  const ports = { store: connection.writer, watchSecret: secretWatch(watches), observer, fail };
  const pairs =
    (await openGivenPair(settings, observer)) ?? (await openSharedAuthority(settings, ports, starting));
  const admission = await startAdmission(settings, pairs, sources, context, limits);
  if (!settings.manageWebhooks) return admission;
  // 0: the port on which this process answers reviews.
  const servicePort = settings.servicePort === 0 ? admission.port : settings.servicePort;
  const registration = startRegistration({ ...settings, servicePort }, pairs.bundle, context);
  return {
    url: admission.url,
    isTrustworthy: admission.isTrustworthy,
    stop: async (graceMs, signal) => {
      // Clients learn of the end at once, even when the Lease cannot be released.
      await Promise.all([registration.stop(), admission.stop(graceMs, signal)]);
    },
  };
}

/** Watches one Secret by name: RBAC can allow that for this one name. Its payload is never read. */
export function secretWatch(watches: Pick<Watches, 'start'>): SecretWatch {
  return (namespace, name, onChange) => {
    const path = resourcePath({ apiVersion: 'v1', plural: 'secrets', namespace });
    const target = { path, fieldSelector: `metadata.name=${name}`, metadataOnly: true };
    watches.start(target, { replaced: onChange, changed: onChange, removed: onChange }, true);
  };
}

/** The account that binds roles, with the groups that Kubernetes gives to every service account. */
function reconcilerIdentity({ namespace }: Pick<WebhookRoleSettings, 'namespace'>): Requester {
  return {
    username: `system:serviceaccount:${namespace}:${reconcilerAccount}`,
    // https://kubernetes.io/docs/reference/access-authn-authz/authentication/#service-account-tokens
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

function countPolicies(cluster: LiveCluster, metrics: AdmissionMetrics): void {
  const count = (): void => {
    const counts = Object.values(cluster.providerCounts());
    const sum = (standing: Standing): number => counts.reduce((total, each) => total + each[standing], 0);
    metrics.setPolicies({ loaded: sum('loaded'), stale: sum('last-good'), refused: sum('refused') });
  };
  count();
  cluster.subscribe({ provider: count });
}
