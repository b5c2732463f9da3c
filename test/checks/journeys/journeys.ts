// Makes the three journeys of docs/architecture.md, and returns the files of src that each of them passes.
import { join } from 'node:path';
import { applyPatch, type Operation } from 'rfc6902';
import { readyCondition } from '../../../src/schema/names.ts';
import { HttpsClient } from '../../support/https-client.ts';
import { namespaceObject, responseOf, reviewJson } from '../../support/reviews.ts';
import { JourneyCluster, type Stored } from './journey-cluster.ts';
import { RecordedProgram } from './recorded-program.ts';

/** Members of app-teams create app-shop: the API server sends it to `/mutate`, then to `/validate`. */
export async function filesOfReview(): Promise<readonly string[]> {
  await using cluster = await JourneyCluster.create();
  await using program = await cluster.start('webhook');
  const [, port] = /reviews on https:\/\/[^/]*:(\d+)/.exec(await program.ready()) ?? [];
  const client = new HttpsClient(Number(port));
  try {
    // A review by another user: nothing of the start is under way then, and its rights are not remembered for ann.
    await review(client, 'bob');
    const first = await filesPassedFor('ann', program, client);
    const second = new Set(await filesPassedFor('cid', program, client));
    // A watch or a probe may be at work during one of them.
    return first.filter((file) => second.has(file));
  } finally {
    client.close();
  }
}

async function filesPassedFor(
  username: string,
  program: RecordedProgram,
  client: HttpsClient,
): Promise<readonly string[]> {
  await program.beginJourney();
  await review(client, username);
  return await program.passedFiles();
}

async function review(client: HttpsClient, username: string): Promise<void> {
  const namespace = namespaceObject('app-shop', { labels: { owner: 'ann' } });
  const userInfo = { username, groups: ['app-teams', 'system:authenticated'] };
  for (const path of ['/mutate', '/validate']) {
    const { body } = await client.post(path, reviewJson(namespace, { userInfo }));
    const { allowed, patch } = responseOf(body);
    if (!allowed) throw new Error(`${path} refused the namespace: ${body}`);
    if (patch !== undefined) applyPatch(namespace, operationsOf(patch));
  }
}

function operationsOf(patch: string): Operation[] {
  return JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) as Operation[];
}

/** The policy has contents and no rules. A policy with rules also has existing objects audited. */
const providing = join(import.meta.dirname, 'providing');

/** Namespace app-shop is stored: it gets a RoleBinding, a ResourceQuota and a copy of a Secret. */
export async function filesOfNamespaceEvent(): Promise<readonly string[]> {
  await using cluster = await JourneyCluster.create(providing);
  await using program = await cluster.start('reconciler');
  await program.ready();
  await statuses(cluster, { apps: 0, registry: 0 });
  const first = await filesPassedBy('app-shop', 1, cluster, program);
  const second = new Set(await filesPassedBy('app-orders', 2, cluster, program));
  // The kinds of security engines may be looked up during one of them.
  return first.filter((file) => second.has(file));
}

/** `count`: the number of Namespaces that are stored then. */
async function filesPassedBy(
  name: string,
  count: number,
  cluster: JourneyCluster,
  program: RecordedProgram,
): Promise<readonly string[]> {
  await program.beginJourney();
  const metadata = { name, labels: { owner: 'ann' } };
  await cluster.store({ apiVersion: 'v1', kind: 'Namespace', metadata });
  await statuses(cluster, { apps: 2 * count, registry: count });
  await cluster.waitFor(`/api/v1/namespaces/${name}`, isReady);
  // One event for each provider, in the namespace and about the provider itself.
  await eventsIn(name, 2, cluster);
  await eventsIn('default', 2 * count, cluster);
  return await program.passedFiles();
}

/** An event that is repeated is one Event with a count. */
async function eventsIn(namespace: string, count: number, cluster: JourneyCluster): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/events`;
  await cluster.waitFor(path, ({ items = [] }) => {
    const counts = items.map(({ series }) => series?.count ?? 1);
    return counts.reduce((sum, each) => sum + each, 0) === count;
  });
}

/** Waits until each provider reports that number of objects in sync. */
async function statuses(cluster: JourneyCluster, synced: { apps: number; registry: number }): Promise<void> {
  const providers = { 'namespacepolicies/apps': synced.apps, 'secretshares/registry': synced.registry };
  for (const [provider, count] of Object.entries(providers)) {
    const path = `/apis/reeve.dev/v1alpha1/${provider}`;
    await cluster.waitFor(path, ({ status }) => status?.synced === count);
  }
}

function isReady({ status }: Stored): boolean {
  return (
    status?.conditions?.some(({ type, status: is }) => type === readyCondition && is === 'True') ?? false
  );
}

/** `reeve serve --policies` loads a file with a NamespacePolicy. */
export async function filesOfPolicyFile(): Promise<readonly string[]> {
  const policies = '--policies=manifests/samples/first-steps/policy.yaml';
  const addresses = ['--host=127.0.0.1', '--port=0', '--probes-port=0'];
  await using program = new RecordedProgram(['serve', policies, ...addresses]);
  const line = await program.ready();
  if (!line.includes('1 policies loaded, 0 refused')) throw new Error(`the policy was not loaded: ${line}`);
  return await program.passedFiles();
}
