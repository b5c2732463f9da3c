// Installs Reeve on a control plane from manifests/, without Pods, because there is no node.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCertificateFiles } from '../../src/certs/files/files.ts';
import { parseYaml } from '../../src/base/yaml.ts';
import { issueCertificates } from '../../src/certs/issue/issue.ts';
import { kubectl, mustKubectl, type KubectlOptions } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { applyAll, type AppliedObject } from './apply.ts';
import type { ClusterAccess } from './cluster-access.ts';

export const reeveNamespace = 'reeve-system';

/** Applies all of manifests/ except the Pods. */
export async function installReeve(cluster: ClusterAccess): Promise<void> {
  const kinds = objectsOf('manifests/crds');
  await mustApply(cluster, kinds);
  await kindsAreServed(cluster, ...kinds.map(({ metadata }) => `crd/${metadata.name}`));
  const others = [...objectsOf('manifests/install'), ...objectsOf('manifests/all-in-one/10-rights.yaml')];
  // The sandbox serves no Services, Deployments and PodDisruptionBudgets. No node serves cluster IPs.
  const withoutPods = others.filter(
    ({ kind }) => kind !== 'Service' && !(cluster.isSandbox && isAboutPods.test(kind)),
  );
  await mustApply(cluster, withoutPods);
  if (cluster.isSandbox) return;
  // An ExternalName Service leads to the port in the webhook configuration.
  await mustApply(cluster, [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'reeve-webhook', namespace: reeveNamespace },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
  ]);
}

const isAboutPods = /^(Deployment|PodDisruptionBudget)$/;

function objectsOf(path: string): readonly AppliedObject[] {
  const files = path.endsWith('.yaml') ? [path] : globSync(`${path}/*.yaml`).sort();
  return files.flatMap((file) =>
    parseYaml(readFileSync(file, 'utf8')).documents.map((document) => {
      if (document.kind !== 'data') throw new Error(`${file} is broken`);
      return document.value as AppliedObject;
    }),
  );
}

async function mustApply(cluster: ClusterAccess, objects: readonly AppliedObject[]): Promise<void> {
  const { code, stderr } = await applyAll(cluster, objects, { who: cluster, isDryRun: false });
  if (code !== 0) throw new Error(`the install was not applied: ${stderr}`);
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
