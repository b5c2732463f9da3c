// Installs Reeve on a control plane from manifests/, without Pods, because there is no node.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCertificateFiles } from '../../src/certs/files/files.ts';
import { issueCertificates } from '../../src/certs/issue/issue.ts';
import { kubectl, mustKubectl, type KubectlOptions } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import type { ClusterAccess } from './cluster-access.ts';

export const reeveNamespace = 'reeve-system';

/** Applies all of manifests/ except the Pods. */
export async function installReeve(cluster: ClusterAccess): Promise<void> {
  await mustKubectl(['apply', '-f', 'manifests/crds'], cluster);
  await kindsAreServed(cluster, '-f', 'manifests/crds');
  const files = cluster.isSandbox ? withoutPods('manifests/install') : ['manifests/install'];
  const rights = 'manifests/all-in-one/10-rights.yaml';
  await mustKubectl(['apply', ...[...files, rights].flatMap((file) => ['-f', file])], cluster);
  if (cluster.isSandbox) return;
  // No node serves cluster IPs. An ExternalName Service leads to the port in the webhook configuration.
  await kubectl(['delete', 'service', 'reeve-webhook', '-n', reeveNamespace, '--ignore-not-found'], cluster);
  const service = ['create', 'service', 'externalname', 'reeve-webhook', '-n', reeveNamespace];
  await mustKubectl([...service, '--external-name=localhost'], cluster);
}

/** Waits until these CRDs are in force. kubectl fails when it waits for a CRD that has no conditions yet. */
export async function kindsAreServed(who: KubectlOptions, ...crds: readonly string[]): Promise<void> {
  const wait = ['wait', '--for=condition=Established', ...crds, '--timeout=60s'];
  let last = '';
  await until(
    async () => {
      const { code, stderr } = await kubectl(wait, who);
      last = stderr;
      return code === 0;
    },
    () => `the kinds are served: ${last}`,
  );
}

/** Edits the jail as an install with --secrets-rbac-failure-policy=Fail does. */
export async function allowFail(cluster: ClusterAccess): Promise<void> {
  const jail = ['validatingadmissionpolicy', 'reeve-jail'];
  const { spec } = JSON.parse(await mustKubectl(['get', ...jail, '-o=json'], cluster)) as {
    readonly spec: { readonly variables: readonly { readonly name: string }[] };
  };
  const path = `/spec/variables/${spec.variables.findIndex(({ name }) => name === 'secretsAndRbac')}/expression`;
  const patch = [{ op: 'replace', path, value: '"Fail"' }];
  await mustKubectl(['patch', ...jail, '--type=json', '-p', JSON.stringify(patch)], cluster);
}

/** The sandbox serves no Services, Deployments and PodDisruptionBudgets. */
function withoutPods(folder: string): readonly string[] {
  const kind = /^kind: (Service|Deployment|PodDisruptionBudget)$/m;
  return globSync(`${folder}/*.yaml`).filter((file) => !kind.test(readFileSync(file, 'utf8')));
}

/** Returns the folder with one key pair for all replicas and the authority for the webhook configurations. */
export async function reeveCertificates(cluster: ClusterAccess): Promise<string> {
  const folder = join(cluster.folder, 'reeve-certs');
  if (existsSync(folder)) return folder;
  const lifetimes = { caLifetimeDays: 30, leafLifetimeDays: 30 };
  await writeCertificateFiles(
    folder,
    await issueCertificates({ namespace: reeveNamespace, now: new Date(), ...lifetimes }),
    false,
  );
  return folder;
}

/**
 * Prepares tests that need a cluster without Reeve. An earlier test may have left webhooks that no longer answer.
 * The API server reads them from a cache, so it asks them for a moment after they are deleted.
 */
export async function removeWebhooks({ admin }: ClusterAccess): Promise<void> {
  for (const kind of ['validating', 'mutating']) {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/reeve`;
    await admin.send('DELETE', path);
  }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'is-no-webhook-asked' } };
  let last = '';
  await until(
    async () => {
      const { status, body } = await admin.send('POST', '/api/v1/namespaces?dryRun=All', namespace);
      last = `${status} ${JSON.stringify(body)}`;
      return status === 201;
    },
    () => `no webhook is asked: ${last}`,
  );
}
