// One round of keeping the webhook configurations, when the API server refuses, when others write, and when it is told once.
import { expect, it } from 'vitest';
import { KubeError } from '../../../src/api/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../../src/api/kube-object.ts';
import type { ObjectWriter } from '../../../src/kube/object-writer.ts';
import { ConfigurationMetrics } from '../../../src/observe/configuration-metrics.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';
import { faults } from '../../../src/state/configuration-drift.ts';
import { ConfigurationKeeper } from '../../../src/wire/configuration-keeper.ts';

const alarm = 'webhook configuration was changed by others';
const roleKind = 'ClusterRole';
const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const [validating, mutating] = kinds.toReversed().map((kind): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: 'reeve', annotations: { 'reeve.dev/version': '1.0.0' } },
  webhooks: [{ name: `${kind}.reeve.dev`, timeoutSeconds: 5, clientConfig: { caBundle: 'cGVt' } }],
}));

/** An API server with what such a keeper reads and writes, each under its kind. */
class Stored {
  readonly objects = new Map<string, KubeObject>([
    [roleKind, { metadata: { name: 'reeve-webhook', uid: '1' } }],
  ]);
  readonly writes: string[] = [];
  refusal: KubeError | undefined;
  #version = 0;

  put(kind: string, object: KubeObject): KubeObject {
    const metadata = { ...object.metadata, resourceVersion: String((this.#version += 1)) };
    const stored = { ...object, metadata };
    this.objects.set(kind, stored);
    return stored;
  }

  readonly writer: Pick<ObjectWriter, 'read' | 'apply' | 'mergePatch'> = {
    read: ({ kind }: ObjectRef) => Promise.resolve(this.objects.get(kind)),
    apply: (object) => this.#write('apply', object.kind ?? '', object),
    mergePatch: ({ kind }, patch) =>
      this.#write('patch', kind, { ...this.objects.get(kind), ...patch } as KubeObject),
  };

  #write(verb: string, kind: string, object: KubeObject): Promise<KubeObject> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    this.writes.push(`${verb} ${kind}`);
    return Promise.resolve(this.put(kind, object));
  }
}

function scene(): {
  readonly stored: Stored;
  readonly said: string[];
  readonly confirmed: string[];
  readonly metrics: () => Promise<string>;
  readonly round: () => Promise<boolean>;
} {
  const [stored, registry] = [new Stored(), new MetricsRegistry()];
  const [said, confirmed]: string[][] = [[], []];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message: string) => said?.push(message),
    error: (message: string) => said?.push(message),
    close: () => Promise.resolve(true),
  };
  const bundle = {
    wanted: () => Promise.resolve('pem'),
    confirmed: (pem: string) => confirmed?.push(pem),
    subscribe: () => () => undefined,
  };
  const metrics = new ConfigurationMetrics(registry, kinds, faults);
  const writer = stored.writer as ObjectWriter;
  const keeper = new ConfigurationKeeper({ writer, bundle, log, metrics }, '1.0.0');
  const wanted = { validating, mutating } as {
    readonly validating: KubeObject;
    readonly mutating: KubeObject;
  };
  return {
    stored,
    said: said ?? [],
    confirmed: confirmed ?? [],
    metrics: () => registry.render(),
    round: () => keeper.tryToKeep(() => wanted, new AbortController().signal),
  };
}

it('makes both, confirms what it has read back, and then writes nothing more', async () => {
  const { stored, said, confirmed, round } = scene();
  for (const _ of [1, 2]) expect(await round()).toBe(true);
  expect(stored.writes).toEqual(kinds.map((kind) => `apply ${kind}`));
  expect(confirmed).toEqual(['pem', 'pem']);
  expect(said).toEqual([]);
});

it('writes nothing while the ClusterRole is missing or goes, and says so once', async () => {
  const { stored, said, confirmed, round } = scene();
  const role = { metadata: { name: 'reeve-webhook', uid: '1', deletionTimestamp: '2026-01-01T00:00:00Z' } };
  stored.put(roleKind, role);
  for (const _ of [1, 2]) await round();
  stored.objects.delete(roleKind);
  await round();
  expect([stored.writes, confirmed]).toEqual([[], []]);
  expect(said).toEqual(['webhook configurations not applied: the install lacks a ClusterRole']);
});

it('tells of a change by others once it is put right, however often that fails before', async () => {
  const { stored, said, confirmed, metrics, round } = scene();
  await round();
  stored.put(kinds[1] ?? '', { ...validating, metadata: { name: 'reeve' }, webhooks: [] });
  stored.refusal = new KubeError({ code: 403, reason: 'Forbidden', retryable: false });
  for (const _ of [1, 2]) expect(await round()).toBe(false);
  expect(said).toEqual(['webhook configurations not applied']);
  expect(confirmed).toEqual(['pem']);
  stored.refusal = undefined;
  expect(await round()).toBe(true);
  expect(said).toEqual(['webhook configurations not applied', alarm]);
  expect(await metrics()).toContain(`{kind="${kinds[1]}",found="emptied"} 1`);
  expect(confirmed).toEqual(['pem', 'pem']);
});

it('says nothing when somebody else was faster, and looks again', async () => {
  const { stored, said, round } = scene();
  stored.refusal = new KubeError({ code: 409, reason: 'Conflict', retryable: true });
  expect(await round()).toBe(false);
  expect(said).toEqual([]);
});

it('writes once against what an API server adds by itself', async () => {
  const { stored, said, round } = scene();
  await round();
  const live = stored.objects.get(kinds[1] ?? '');
  stored.objects.set(kinds[1] ?? '', {
    ...validating,
    metadata: live?.metadata ?? {},
    webhooks: [{ added: 1 }],
  });
  await round();
  expect(stored.writes).toHaveLength(2);
  expect(said).toEqual([]);
});
