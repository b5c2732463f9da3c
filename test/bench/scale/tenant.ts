// Measures one tenant with many bindings: `node test/bench/scale/tenant.ts 250`. The API server is in memory, in the same process.
import { setTimeout as sleep } from 'node:timers/promises';
import { apiVersion } from '../../../src/schema/names.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { isJsonObject } from '../../../src/base/json.ts';
import { networkAdapter } from '../../../src/policy/intents/adapters/network.ts';
import { Harness } from '../../support/reconcile-harness.ts';

const [tenant, others] = ['shop', ['bank', 'depot']];
const requestMs = 5;
const patienceMs = 300_000;
const type = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' };
const count = Number(process.argv[2] ?? 250);

const harness = new Harness({ install: { resourceKinds: [type] }, clock: systemClock }, undefined, {
  adapters: [networkAdapter],
});
const { memory } = harness;
memory.before = () => sleep(requestMs);

const stored = (kind: string, namespace: string) => memory.list(kind, namespace);
const bind = (index: number, namespace: string): void => {
  const spec = {
    intents: ['dns'],
    workloads: { matchLabels: { app: `a${index}` } },
    deletionPolicy: 'Delete',
    maxDeletions: 20,
    suspend: false,
  };
  memory.put({ apiVersion, kind: 'SecurityIntentBinding', metadata: { name: `b${index}`, namespace }, spec });
};
const isSynced = (object: KubeObject): boolean => {
  const status = object['status'];
  return isJsonObject(status) && status['synced'] === 1;
};
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Prints how long it takes until the condition is met. */
async function time(what: string, isMet: () => boolean): Promise<void> {
  const began = performance.now();
  while (!isMet()) {
    if (performance.now() - began > patienceMs) throw new Error(`${what}: not within ${patienceMs / 1000} s`);
    await sleep(20);
  }
  say(`${what}: ${((performance.now() - began) / 1000).toFixed(2)} s`);
}

async function timeOther(what: string, namespace: string): Promise<void> {
  await sleep(300);
  bind(0, namespace);
  await time(what, () => stored(type.kind, namespace).length === 1);
}

for (const name of [tenant, ...others]) harness.namespace(name, {});
const intent = { id: 'dnsManipulation', action: 'Block', severity: 'Low' };
memory.put({ apiVersion, kind: 'SecurityIntent', metadata: { name: 'dns' }, spec: intent });
harness.start();
harness.setServed([type, true]);
await time('initial sync', () => harness.reconciler.health().isInitialSyncDone);

for (let index = 0; index < count; index += 1) bind(index, tenant);
await timeOther('a binding of another namespace, while created', others[0] ?? '');
await time('then all objects', () => stored(type.kind, tenant).length === count);
await time('then all statuses', () => stored('SecurityIntentBinding', tenant).every(isSynced));
bind(count, tenant);
await time('one more binding in the namespace', () => stored(type.kind, tenant).length === count + 1);

for (const { metadata } of stored('SecurityIntentBinding', tenant))
  memory.delete({ apiVersion, kind: 'SecurityIntentBinding', name: metadata.name ?? '', namespace: tenant });
await timeOther('a binding of another namespace, while deleted', others[1] ?? '');
await time('then the end of the deletion', () => stored('SecurityIntentBinding', tenant).length === 0);

const [megabytes, cpu] = [process.memoryUsage().rss / 1e6, process.cpuUsage().user / 1e6];
say(`memory ${megabytes.toFixed(0)} MB, processor time ${cpu.toFixed(1)} s`);
await harness.stop();
process.exit(0);
