// Reads the parts of an install one by one, and reports what does not work.
import { apiVersion, configurationName, group, partOfLabel, partOfReeve } from '../api/names.ts';
import type { ClusterConnection } from '../app/cluster-connection.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/kube-object.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
import { providerKinds, type ProviderKind, providerResources } from '../policy/terms/provider-id.ts';
import { protections } from '../reconcile/guard-check.ts';
import { listObjects } from '../uninstall/removal.ts';
import {
  deploymentProblems,
  kindProblems,
  leaseProblems,
  protectionProblems,
  providerProblems,
  webhookProblems,
  type ExpectedWebhooks,
} from './findings.ts';
import { ownName, rightsProblems } from './rights.ts';
import { reachProblems, versionProblems } from './server.ts';

export interface Finding {
  /** `guard and jail` */
  readonly part: string;
  /** Sentences for a person. A part without any works, unless something is unseen. */
  readonly problems: readonly string[];
  /** What this account may not look at. It is no problem, because another account can look. */
  readonly unseen: readonly string[];
}

/** Returns undefined when this account may not ask. */
type Reading = () => Promise<readonly string[] | undefined>;
type Cluster = Pick<ClusterConnection, 'client' | 'writer'>;

const kinds = ['securityintents', ...Object.values(providerResources)];
const admission = 'admissionregistration.k8s.io/v1';
export const serverPart = 'API server';
const accounts = ['webhook', 'reconciler'] as const;
const leases = ['reeve-webhook', 'reeve-reconciler'] as const;

/** Returns one finding for each part, in the order in which a person repairs them, and only that of an ill API server. */
export async function checkInstall(
  expected: ExpectedWebhooks,
  cluster: Cluster,
): Promise<readonly Finding[]> {
  const server = await findingOf(serverPart, [() => versionProblems(cluster.client)]);
  if (server.problems.length > 0) return [server];
  const place = { namespace: expected.namespace, self: await ownName(cluster.client) };
  const parts: readonly (readonly [part: string, readonly Reading[]])[] = [
    ['kinds', kinds.map((plural) => kindReading(`${plural}.${group}`, cluster))],
    ['guard and jail', protections.map((protection) => protectionReading(protection, cluster))],
    ...accounts.map(
      (role) => [`rights of the ${role}`, [() => rightsProblems(cluster.client, role, place)]] as const,
    ),
    ['Deployments', [deploymentsReading(expected.namespace, cluster)]],
    ['Leases', leases.map((name) => leaseReading(name, expected, cluster))],
    ['webhook configurations', configurationReadings(expected, cluster)],
    ['webhook', [() => reachProblems(cluster.client)]],
    ['policies, shares and bindings', providerKinds.map((kind) => providersReading(kind, cluster))],
  ];
  return [server, ...(await Promise.all(parts.map(([part, readings]) => findingOf(part, readings))))];
}

async function findingOf(part: string, readings: readonly Reading[]): Promise<Finding> {
  const seen = await Promise.all(readings.map(seenBy));
  return {
    part,
    problems: seen.flatMap(({ problems = [] }) => problems),
    unseen: [...new Set(seen.flatMap(({ unseen = [] }) => unseen))],
  };
}

async function seenBy(reading: Reading): Promise<Partial<Omit<Finding, 'part'>>> {
  try {
    const problems = await reading();
    return problems === undefined ? { unseen: ['this account may not ask'] } : { problems };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const reason = whyUnseen(error);
    return reason === undefined ? { problems: [error.message] } : { unseen: [reason] };
  }
}

/** Undefined for an error that is a problem. */
function whyUnseen({ refusal, message, code }: KubeError): string | undefined {
  switch (refusal?.by) {
    case 'rights':
      return `this account may not ${refusal.name ?? 'ask'}`;
    case 'webhook':
    case 'policy':
      return `${refusal.name ?? 'another program'} refuses the dry run`;
    default:
      // The sandbox knows some kinds by name only.
      return code === 501 ? message : undefined;
  }
}

function kindReading(name: string, { writer }: Cluster): Reading {
  const ref: ObjectRef = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name };
  return async () => kindProblems(name, await writer.read(ref));
}

function protectionReading(protection: (typeof protections)[number], { writer }: Cluster): Reading {
  const read = async (kind: string, name: string): Promise<KubeObject | undefined> =>
    await writer.read({ apiVersion: admission, kind, name });
  return async () =>
    protectionProblems(protection, {
      policy: await read('ValidatingAdmissionPolicy', protection.policy),
      binding: await read('ValidatingAdmissionPolicyBinding', protection.binding),
    });
}

function deploymentsReading(namespace: string, { client }: Cluster): Reading {
  const path = resourcePath({ apiVersion: 'apps/v1', plural: 'deployments', namespace });
  return async () =>
    deploymentProblems(await listObjects(client, { path, labelSelector: `${partOfLabel}=${partOfReeve}` }));
}

function leaseReading(name: string, { namespace, now }: ExpectedWebhooks, { writer }: Cluster): Reading {
  const ref: ObjectRef = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name };
  return async () => leaseProblems(name, await writer.read(ref), now);
}

function configurationReadings(expected: ExpectedWebhooks, { writer }: Cluster): readonly Reading[] {
  return ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => async () => {
    const ref = { apiVersion: admission, kind, name: configurationName };
    return webhookProblems(kind, await writer.read(ref), expected);
  });
}

function providersReading(kind: ProviderKind, { client }: Cluster): Reading {
  const plural = providerResources[kind];
  return async () =>
    providerProblems(kind, await listObjects(client, { path: resourcePath({ apiVersion, plural }) }));
}
