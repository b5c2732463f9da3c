// Installs a peer from the manifests of its module, without Pods, because the control plane has no node.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from '../../cluster/cluster-access.ts';
import { kubectl, mustKubectl } from '../../support/kubectl.ts';
import { until } from '../../support/until.ts';

const pods = /^kind: (Deployment|Service|PodDisruptionBudget|CronJob)$/m;
const definitions = /^kind: CustomResourceDefinition$/m;

/** `edit` changes a document, or drops it by returning undefined. */
export async function installManifests(
  cluster: ClusterAccess,
  file: string,
  edit: (document: string) => string | undefined = (document) => document,
): Promise<void> {
  const documents = (await readFile(file, 'utf8')).split(/^---$/m).filter((each) => /^kind: /m.test(each));
  const kept = documents.filter((each) => !pods.test(each)).flatMap((each) => edit(each) ?? []);
  await apply(
    cluster,
    kept.filter((each) => definitions.test(each)),
  );
  // kubectl fails when it waits for a CRD that has no conditions yet.
  const wait = ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'];
  await until(
    async () => (await kubectl(wait, cluster)).code === 0,
    () => 'the kinds are served',
  );
  await apply(
    cluster,
    kept.filter((each) => !definitions.test(each)),
  );
}

/** Kinds of several megabytes do not fit into the annotation of a client-side apply. */
async function apply(cluster: ClusterAccess, documents: readonly string[]): Promise<void> {
  const file = join(cluster.folder, 'peer.yaml');
  await writeFile(file, documents.join('\n---\n'));
  await mustKubectl(['apply', '--server-side', '--force-conflicts', '-f', file], cluster);
}
