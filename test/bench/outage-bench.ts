// Measures on real nodes what users see, and how long, when a zone, all Pods of a role, or etcd is lost.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { installOnRig } from '../cluster/node/rig-reeve.ts';
import { startRig, type NodeRig } from '../cluster/node/rig.ts';
import { applyFirstSteps } from '../node/support/steady-writes.ts';
import { reevePods, restartReeve, roles, type ReevePod } from '../node/support/reeve-pods.ts';
import { mustKubectl } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { duringEvent } from './outage-load.ts';

const zones = new Map([
  ['node-1', 'a'],
  ['node-2', 'a'],
  ['node-3', 'b'],
  ['node-4', 'b'],
]);
const hangSeconds = 30;

/** Prints what each event does to users. Needs Linux and root, as all real nodes. */
export async function measureOutages(): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const rig = await startRig({ nodes: zones.size }, say);
  try {
    await installOnRig(rig, say);
    await applyFirstSteps(rig.cluster);
    for (const [node, zone] of zones) {
      const label = `topology.kubernetes.io/zone=${zone}`;
      await mustKubectl(['label', 'node', node, label, '--overwrite'], rig.cluster);
    }
    await restartReeve(rig);
    for (const [name, event] of events) await measure(rig, name, event, say);
  } finally {
    await rig.stop();
  }
}

async function measure(
  rig: NodeRig,
  name: string,
  event: Outage,
  say: (line: string) => void,
): Promise<void> {
  const notes: string[] = [];
  const began = performance.now();
  const note = (text: string): void =>
    void notes.push(`${text} after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const placed = await placement(rig);
  const report = await duringEvent(rig.cluster, () => event(rig, note));
  say(`\n${name}\n  before: ${placed}\n  after: ${await placement(rig)}`);
  for (const line of notes) say(`  ${line}`);
  say(`  ${JSON.stringify(report)}`);
}

type Outage = (rig: NodeRig, note: (text: string) => void) => Promise<void>;

const events: readonly (readonly [string, Outage])[] = [
  ['nothing happens', () => sleep(10_000)],
  ['the Pods of all webhooks are lost', (rig, note) => losePods(rig, ['webhook'], note)],
  ['the Pods of all reconcilers are lost', (rig, note) => losePods(rig, ['reconciler'], note)],
  ['all Pods are lost', (rig, note) => losePods(rig, roles, note)],
  [`etcd hangs for ${hangSeconds} s`, (rig, note) => hang(rig, 'etcd', note)],
  [`the API server hangs for ${hangSeconds} s`, (rig, note) => hang(rig, 'kube-apiserver', note)],
  ['a zone is cut off', cutZone],
];

/** Deletes the Pods without a grace period, so that the process ends at once. */
async function losePods(
  rig: NodeRig,
  lost: readonly ('webhook' | 'reconciler')[],
  note: (text: string) => void,
): Promise<void> {
  const before = (await podsOf(rig)).map(({ name }) => name);
  const selector = `app.kubernetes.io/component in (${lost.join(',')})`;
  const force = ['--force', '--grace-period=0', '--wait=false'];
  await mustKubectl(['delete', 'pod', '-n', 'reeve-system', '-l', selector, ...force], rig.cluster);
  await isWhole(rig, ({ name }) => !lost.some((role) => name.includes(role)) || !before.includes(name));
  note('two Pods of each role are ready');
}

async function cutZone(rig: NodeRig, note: (text: string) => void): Promise<void> {
  const cut = rig.nodes.filter(({ name }) => zones.get(name) === 'b');
  for (const node of cut) await rig.cutOff(node);
  await mustKubectl(
    ['wait', 'node', ...cut.map(({ name }) => name), '--for=condition=Ready=Unknown', '--timeout=110s'],
    rig.cluster,
  );
  note('Kubernetes says NotReady');
  await isWhole(rig, ({ node }) => zones.get(node ?? '') === 'a');
  note('two Pods of each role are ready in the other zone');
  for (const node of cut) await rig.rejoin(node);
}

async function hang(rig: NodeRig, program: string, note: (text: string) => void): Promise<void> {
  const stopped = rig.processes().find(({ pid }) => {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.slice(0, 2).some((word) => word.endsWith(program));
  });
  if (stopped === undefined) throw new Error(`${program} does not run`);
  process.kill(stopped.pid, 'SIGSTOP');
  try {
    await sleep(hangSeconds * 1000);
  } finally {
    process.kill(stopped.pid, 'SIGCONT');
  }
  note(`${program} continues`);
  await isWhole(rig, () => true);
  note('two Pods of each role are ready');
}

async function podsOf(rig: NodeRig): Promise<readonly ReevePod[]> {
  return (await Promise.all(roles.map((role) => reevePods(rig, role)))).flat();
}

async function isWhole(rig: NodeRig, counts: (pod: ReevePod) => boolean): Promise<void> {
  const text = async (): Promise<string> => await placement(rig);
  await until(
    async () => {
      const pods = await podsOf(rig).catch(() => []);
      return pods.filter((pod) => pod.isReady && counts(pod)).length === 4;
    },
    text,
    180,
  );
}

async function placement(rig: NodeRig): Promise<string> {
  const pods = await podsOf(rig);
  return pods
    .map(({ name, node = 'no node', isReady }) => `${name} ${node} ${isReady ? 'ready' : 'not ready'}`)
    .join(', ');
}
