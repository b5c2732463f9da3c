// Reads the parts of an install one by one, and reports what does not work.
import { apiVersion, configurationName, group, partOfLabel, partOfReeve } from '../schema/names.ts';
import type { ClusterConnection } from '../app/cluster-connection.ts';
import { KubeError } from '../base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../base/metadata.ts';
import { keepsReports } from '../cli/input/find-install.ts';
import type { ResourceAttributes } from '../kube/access-review.ts';
import type { KubeClient } from '../kube/http/client.ts';
import { resourcePath } from '../kube/http/https-client.ts';
import { kinds, type ProviderKind } from '../api/kinds.ts';
import { groupOf } from '../base/object-type.ts';
import { providerKinds } from '../policy/terms/provider-id.ts';
import { protections } from '../reconcile/guard-monitor.ts';
import { listObjects } from '../uninstall/removal.ts';
import {
  costDetails,
  deploymentProblems,
  kindProblems,
  leaseProblems,
  protectionProblems,
  providerProblems,
  webhookProblems,
  type ExpectedWebhooks,
  type Seen,
} from './findings.ts';
import { missingRules, type MissingRule } from './missing-rules.ts';
import { podsSeen, rightsToSeePods } from './pods.ts';
import { lackedRights, ownName, rightsSeen, textOfRight } from './rights.ts';
import { ownMember } from '../base/json.ts';
import { malformedAnswer } from '../kube/http/answers.ts';

/** A part of the install with all that was seen of it. A part works if it has no problems and nothing is unseen. */
export interface Finding extends Required<Omit<Seen, 'lacked'>> {
  /** `guard and jail` */
  readonly part: string;
  readonly missingRules: readonly MissingRule[];
}

interface Reading {
  /** The rights that this account needs to look. */
  readonly needs: readonly ResourceAttributes[];
  /** Returns undefined when this account may not ask. Rejects with a KubeError. */
  readonly look: () => Promise<Seen | undefined>;
}
type Part = readonly [name: string, readings: readonly Reading[]];
type Cluster = Pick<ClusterConnection, 'client' | 'writer'>;

const resources = ['securityintents', ...providerKinds.map((kind) => kinds[kind].plural)];
const admission = 'admissionregistration.k8s.io/v1';
export const serverPart = 'API server';
const accounts = ['webhook', 'reconciler'] as const;
const leases = ['reeve-webhook', 'reeve-reconciler'] as const;

/** Returns whether rules are enforced: the webhook configurations are right, and the API server reaches the webhook. */
export async function checkWebhooks(
  expected: ExpectedWebhooks,
  cluster: Cluster,
): Promise<readonly Finding[]> {
  const findings = webhookParts(expected, cluster).map(([part, readings]) =>
    findingOf(part, readings, cluster.client),
  );
  return await Promise.all(findings);
}

/** Returns one finding for each part, in the order of repair. If the API server is ill, returns only its finding. */
export async function checkInstall(
  expected: ExpectedWebhooks,
  cluster: Cluster,
): Promise<readonly Finding[]> {
  const { client } = cluster;
  const { namespace, version } = expected;
  const look = async (): Promise<Seen> => await versionSeen(client, version);
  const server = await findingOf(serverPart, [{ needs: [], look }], client);
  if (server.problems.length > 0) return [server];
  const self = await ownName(client);
  const parts: readonly Part[] = [
    ['kinds', resources.map((plural) => kindReading(`${plural}.${group}`, cluster))],
    ['guard and jail', protections.map((protection) => protectionReading(protection, cluster))],
    ...accounts.map(
      (role) => [`rights of the ${role}`, rightsReadings(role, { namespace, self }, client)] as const,
    ),
    ['Deployments', [deploymentsReading(namespace, cluster)]],
    ['Pods', [{ needs: rightsToSeePods(namespace), look: () => podsSeen(client, expected) }]],
    ['Leases', leases.map((name) => leaseReading(name, expected, cluster))],
    ...webhookParts(expected, cluster),
    ['policies, shares and bindings', providerKinds.map((kind) => providersReading(kind, cluster))],
  ];
  const findings = parts.map(([part, readings]) => findingOf(part, readings, client));
  return [server, ...(await Promise.all(findings))];
}

async function findingOf(part: string, readings: readonly Reading[], client: KubeClient): Promise<Finding> {
  const seen = await Promise.all(readings.map((reading) => seenBy(reading, client)));
  return {
    part,
    problems: seen.flatMap(({ problems = [] }) => problems),
    unseen: [...new Set(seen.flatMap(({ unseen = [] }) => unseen))],
    details: seen.flatMap(({ details = [] }) => details),
    missingRules: missingRules(seen.flatMap(({ lacked = [] }) => lacked)),
  };
}

async function seenBy({ needs, look }: Reading, client: KubeClient): Promise<Seen> {
  try {
    return (await look()) ?? (await unseenFor(needs, 'ask', client));
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.refusal?.by === 'rights') return await unseenFor(needs, error.refusal.name ?? 'ask', client);
    const reason = whyUnseen(error);
    return reason === undefined ? { problems: [error.message] } : { unseen: [reason] };
  }
}

/** `refused`: the text for an authorizer that refuses, but does not answer questions about rights. */
async function unseenFor(
  needs: readonly ResourceAttributes[],
  refused: string,
  client: KubeClient,
): Promise<Seen> {
  const lacked = await lackedRights(client, needs);
  // The rules name the rights.
  const unseen = lacked.length === 0 ? [refused] : lacked.map(textOfRight);
  return { unseen: unseen.map((right) => `this account may not ${right}`), lacked };
}

/** Undefined for an error that is a problem. */
function whyUnseen({ refusal, message, code }: KubeError): string | undefined {
  switch (refusal?.by) {
    case 'webhook':
    case 'policy':
      return `${refusal.name ?? 'another program'} refuses the dry run`;
    default:
      // The sandbox knows some kinds by name only.
      return code === 501 ? message : undefined;
  }
}

type Target = Required<Pick<ObjectRef, 'apiVersion' | 'kind' | 'name'>> & Pick<ObjectRef, 'namespace'>;

/** Returns the right to read one object. The kinds that are read have a regular plural, apart from `policies`. */
function toGet({ kind, name, namespace, ...ref }: Target): ResourceAttributes {
  const resource = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
  const place = namespace === undefined ? {} : { namespace };
  return { verb: 'get', group: groupOf(ref.apiVersion), resource, name, ...place };
}

function objectReading(
  ref: Target,
  { writer }: Cluster,
  problemsOf: (object: KubeObject | undefined) => readonly string[],
): Reading {
  const look = async (): Promise<Seen> => ({ problems: problemsOf(await writer.read(ref)) });
  return { needs: [toGet(ref)], look };
}

function kindReading(name: string, cluster: Cluster): Reading {
  const ref = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name };
  return objectReading(ref, cluster, (definition) => kindProblems(name, definition));
}

function protectionReading(protection: (typeof protections)[number], { writer }: Cluster): Reading {
  const policy = { apiVersion: admission, kind: 'ValidatingAdmissionPolicy', name: protection.policy };
  const binding = { apiVersion: admission, kind: `${policy.kind}Binding`, name: protection.binding };
  const look = async (): Promise<Seen> => {
    const found = { policy: await writer.read(policy), binding: await writer.read(binding) };
    return { problems: protectionProblems(protection, found) };
  };
  return { needs: [toGet(policy), toGet(binding)], look };
}

function rightsReadings(
  role: (typeof accounts)[number],
  place: { readonly namespace: string; readonly self: string },
  client: KubeClient,
): readonly Reading[] {
  const needs = [{ verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }];
  const ofReports = async (): Promise<Seen | undefined> =>
    (await hasReportsFlag(place.namespace, client)) ? await rightsSeen(client, role, place, 'reports') : {};
  return [
    { needs, look: () => rightsSeen(client, role, place) },
    ...(role === 'reconciler' ? [{ needs, look: ofReports }] : []),
  ];
}

/** Returns false if this account may not look. The part of the Deployments reports that. */
async function hasReportsFlag(namespace: string, client: KubeClient): Promise<boolean> {
  try {
    return keepsReports(await deploymentsIn(namespace, client));
  } catch (error) {
    if (error instanceof KubeError) return false;
    throw error;
  }
}

function deploymentsReading(namespace: string, { client }: Cluster): Reading {
  return {
    needs: [{ verb: 'list', group: 'apps', resource: 'deployments', namespace }],
    look: async () => ({ problems: deploymentProblems(await deploymentsIn(namespace, client)) }),
  };
}

async function deploymentsIn(namespace: string, client: KubeClient): Promise<readonly KubeObject[]> {
  const path = resourcePath({ apiVersion: 'apps/v1', plural: 'deployments', namespace });
  return await listObjects(client, { path, labelSelector: `${partOfLabel}=${partOfReeve}` });
}

function leaseReading(name: string, { namespace, now }: ExpectedWebhooks, cluster: Cluster): Reading {
  const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name };
  return objectReading(ref, cluster, (lease) => leaseProblems(name, lease, now));
}

function configurationReadings(expected: ExpectedWebhooks, cluster: Cluster): readonly Reading[] {
  return ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => {
    const ref = { apiVersion: admission, kind, name: configurationName };
    return objectReading(ref, cluster, (found) => webhookProblems(kind, found, expected));
  });
}

function webhookParts(expected: ExpectedWebhooks, cluster: Cluster): readonly Part[] {
  return [
    ['webhook configurations', configurationReadings(expected, cluster)],
    ['webhook', [reachReading(expected.namespace, cluster.client)]],
  ];
}

function reachReading(namespace: string, client: KubeClient): Reading {
  return {
    needs: [rightToReach(namespace)],
    look: async () => ({ problems: await reachProblems(client, namespace) }),
  };
}

function providersReading(kind: ProviderKind, { client }: Cluster): Reading {
  const plural = kinds[kind].plural;
  const path = resourcePath({ apiVersion, plural });
  return {
    needs: [{ verb: 'list', group, resource: plural }],
    look: async () => {
      const providers = await listObjects(client, { path });
      return { problems: providerProblems(kind, providers), details: costDetails(kind, providers) };
    },
  };
}

// Asks the API server for its version, and whether it asks the webhook.

/** The guard consists of ValidatingAdmissionPolicies, which are stable since then. */
const oldestMinor = 30;

/** Rejects with a KubeError. */
export async function versionSeen(
  client: Pick<KubeClient, 'request'>,
  programVersion: string,
): Promise<Seen> {
  const version = await client.request({ method: 'GET', path: '/version' });
  const [major = 0, minor = 0] = ['major', 'minor'].map((key) =>
    Number.parseInt(String(ownMember(version, key)), 10),
  );
  // A proxy can answer with any JSON.
  if (Number.isNaN(major) || Number.isNaN(minor)) throw malformedAnswer();
  const details = [`Kubernetes ${major}.${minor}, and this program is Reeve ${programVersion}`];
  if (major > 1 || minor >= oldestMinor) return { details };
  const problem = `it is Kubernetes ${major}.${minor}, and Reeve needs 1.${oldestMinor} or newer: upgrade the cluster`;
  return { problems: [problem], details };
}

/** Only the webhook can see that the expression does not compile. Neither the schema nor the guard refuses it. */
const refusedBinding = {
  apiVersion,
  kind: 'SecurityIntentBinding',
  metadata: { name: 'reeve-check' },
  spec: { intents: ['reeve-check'], workloads: { cel: ['labels.'] } },
};

/** A binding in the namespace of the install has no effect, so the right to create one is harmless. */
function rightToReach(namespace: string): ResourceAttributes {
  return { verb: 'create', group, resource: kinds.SecurityIntentBinding.plural, namespace };
}

const advice = 'see the log of the webhook, its Pods, its Service, and any NetworkPolicy before it';

/**
 * Sends an invalid binding as a dry run: only an answer of the webhook proves that API servers reach it and trust its
 * certificate. Rejects with a KubeError when this account may not create bindings, or another webhook or a
 * ValidatingAdmissionPolicy refuses the binding.
 */
export async function reachProblems(
  client: Pick<KubeClient, 'request'>,
  namespace: string,
): Promise<readonly string[]> {
  try {
    const path = resourcePath({ apiVersion, plural: kinds.SecurityIntentBinding.plural, namespace });
    await client.request({ method: 'POST', path, query: { dryRun: 'All' }, body: refusedBinding });
    return [`the API server stores bindings without asking the webhook: ${advice}`];
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const { code, reason, refusal } = error;
    if (refusal?.by === 'webhook' && refusal.name?.endsWith(`.${group}`) === true) return [];
    if (code === 403 || refusal?.by === 'webhook' || refusal?.by === 'policy') throw error;
    return [`the API server cannot ask the webhook (${code} ${reason}): ${advice}`];
  }
}
