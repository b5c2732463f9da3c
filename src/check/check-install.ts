// Reads the parts of an install one by one, and reports what does not work.
import { apiVersion, configurationName, group, partOfLabel, partOfReeve } from '../api/names.ts';
import type { ClusterConnection } from '../app/cluster-connection.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/kube-object.ts';
import { resourcePath } from '../kube/http/resource-paths.ts';
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

export interface Finding {
  /** `guard and jail` */
  readonly part: string;
  /** Sentences for a person; empty if the part works. */
  readonly problems: readonly string[];
}

type Reading = () => Promise<readonly string[]>;
type Cluster = Pick<ClusterConnection, 'client' | 'writer'>;

const kinds = [
  { kind: 'NamespacePolicy', plural: 'namespacepolicies' },
  { kind: 'SecretShare', plural: 'secretshares' },
] as const;
const admission = 'admissionregistration.k8s.io/v1';
const leases = ['reeve-webhook', 'reeve-reconciler'] as const;

/** Returns one finding for each part. An error of a call is a problem of its part. */
export async function checkInstall(
  expected: ExpectedWebhooks,
  cluster: Cluster,
): Promise<readonly Finding[]> {
  const parts: readonly (readonly [part: string, readonly Reading[]])[] = [
    ['kinds', kinds.map(({ plural }) => kindReading(`${plural}.${group}`, cluster))],
    ['guard and jail', protections.map((protection) => protectionReading(protection, cluster))],
    ['Deployments', [deploymentsReading(expected.namespace, cluster)]],
    ['Leases', leases.map((name) => leaseReading(name, expected, cluster))],
    ['webhook configurations', configurationReadings(expected, cluster)],
    ['policies and shares', kinds.map((kind) => providersReading(kind, cluster))],
  ];
  return await Promise.all(parts.map(([part, readings]) => findingOf(part, readings)));
}

async function findingOf(part: string, readings: readonly Reading[]): Promise<Finding> {
  try {
    const problems = await Promise.all(readings.map((reading) => reading()));
    return { part, problems: problems.flat() };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { part, problems: [error.message] };
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

function providersReading({ kind, plural }: (typeof kinds)[number], { client }: Cluster): Reading {
  return async () =>
    providerProblems(kind, await listObjects(client, { path: resourcePath({ apiVersion, plural }) }));
}
