// The samples of intents in the sandbox of `reeve up`: they are accepted, kept where Kubernetes alone can keep them, and reported elsewhere.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSettings } from '../../src/cli/commands/run.ts';
import { readSettings } from '../../src/cli/flags/settings.ts';
import { startUp, type RunningUp } from '../../src/app/up.ts';
import { ownMember } from '../../src/base/json.ts';
import type { KubeClient } from '../../src/kube/http/client.ts';
import { readObjects, readYamlFiles } from '../../src/state/yaml-files.ts';
import { eventually } from '../support/eventually.ts';
import { folderOf } from '../support/serve-process.ts';

const admin = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
const ownApi = '/apis/reeve.dev/v1alpha1';
const plurals: Readonly<Record<string, string>> = {
  SecurityIntent: 'securityintents',
  SecurityIntentBinding: 'namespaces/shop/securityintentbindings',
  ClusterSecurityIntentBinding: 'clustersecurityintentbindings',
};

let up: RunningUp;
let client: KubeClient;
const stop = new AbortController();

beforeAll(async () => {
  await using folder = await folderOf({});
  const defaults = readSettings(runSettings, [], {});
  if (!defaults.ok) throw new Error('no defaults');
  const run = { ...defaults.values, host: '127.0.0.1', port: 0, probesPort: 0 };
  const log = {
    info() {},
    warn() {},
    error() {},
    debug() {},
    close: () => Promise.resolve(),
    dropped: () => 0,
  };
  up = await startUp({ apiPort: 0, policies: folder.path, namespace: run.namespace, run }, log, {});
  client = await up.clientFor(admin);
  for (const name of ['shop', 'payments', 'tls-scans']) {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await client.request({ method: 'POST', path: '/api/v1/namespaces', body });
  }
});
afterAll(() => up.stop(0, stop.signal));

async function itemsOf(path: string): Promise<readonly unknown[]> {
  return listIn(await client.request({ method: 'GET', path }), 'items');
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const list: unknown = ownMember(value, key);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

function nameIn(object: unknown): string {
  return String(ownMember(ownMember(object, 'metadata'), 'name'));
}

/** `dns-manipulation True`: the name of a binding with its condition IntentsResolved. */
function resolution(binding: unknown): string {
  const conditions = listIn(ownMember(binding, 'status'), 'conditions');
  const found = conditions.find((each) => ownMember(each, 'type') === 'IntentsResolved');
  return `${nameIn(binding)} ${String(ownMember(found, 'status'))} ${String(ownMember(found, 'reason'))}`;
}

test('the webhook accepts all samples of intents, in the order of their files', async () => {
  const { files } = await readYamlFiles('manifests/samples/intents');
  const objects = files.flatMap((file) => readObjects(file).objects);
  for (const { value } of objects) {
    const path = `${ownApi}/${plurals[String(ownMember(value, 'kind'))] ?? ''}`;
    const stored = await client.request({ method: 'POST', path, body: value });
    expect(nameIn(stored)).toBe(nameIn(value));
  }
  expect(files).toHaveLength(18);
});

test('what needs no engine is kept, and what needs one is reported as unsupported', async () => {
  const bindings = `${ownApi}/namespaces/shop/securityintentbindings`;
  await eventually(async () => (await itemsOf(bindings)).map(resolution)).toEqual([
    'cel-multi False Unsupported',
    'coco-workload False Unsupported',
    'dns-manipulation True Resolved',
    'escape-to-host False Unsupported',
    'escape-to-host-with-params False Unsupported',
    'exploit-pfa False Unsupported',
    'multiple False Unsupported',
    'pkg-mgr-exec False Unsupported',
    'virtual-patch False Unsupported',
  ]);
  const policies = '/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies';
  const prefixes = (await itemsOf(policies)).map((each) => nameIn(each).replace(/-[0-9a-f]{8}$/, ''));
  expect(prefixes).toEqual([
    'cel-cluster-dns-only',
    'deny-external-network-access',
    'dns-manipulation',
    'multiple-cluster-dns-only',
  ]);
  const namespace = await client.request({ method: 'GET', path: '/api/v1/namespaces/shop' });
  expect(ownMember(ownMember(namespace, 'metadata'), 'labels')).toMatchObject({
    'pod-security.kubernetes.io/enforce': 'baseline',
  });
});

test('a deleted binding takes its objects with it', async () => {
  const path = `${ownApi}/namespaces/shop/securityintentbindings/dns-manipulation`;
  await client.request({ method: 'DELETE', path });
  const policies = '/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies';
  await eventually(async () => (await itemsOf(policies)).map(nameIn).join()).not.toContain(
    'dns-manipulation',
  );
  const bindings = `${ownApi}/namespaces/shop/securityintentbindings`;
  await eventually(async () => (await itemsOf(bindings)).map(nameIn)).not.toContain('dns-manipulation');
});
