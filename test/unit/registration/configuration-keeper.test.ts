// Tests one round of the keeper: refusals of the API server, writes of others, and what is reported once.
import { expect, it } from 'vitest';
import { KubeError } from '../../../src/base/kube-error.ts';
import type { KubeObject, ObjectRef } from '../../../src/base/metadata.ts';
import { registrationObserver, ConfigurationMetrics } from '../../../src/observe/certificates.ts';
import { MetricsRegistry } from '../../../src/observe/registry.ts';
import { drifts, isSealIntact, sealed } from '../../../src/registration/configuration-drift.ts';
import type { ObjectStore } from '../../../src/base/object-writer.ts';
import { ConfigurationKeeper } from '../../../src/registration/configuration-keeper.ts';

const alarm = 'webhook configuration was changed by others';
const roleKind = 'ClusterRole';
const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const service = { namespace: 'reeve-system', name: 'reeve-webhook', port: 443 };
const [validating, mutating] = kinds.toReversed().map((kind): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: 'reeve', annotations: { 'reeve.dev/version': '1.0.0' } },
  webhooks: [{ name: `${kind}.reeve.dev`, timeoutSeconds: 5, clientConfig: { service, caBundle: 'cGVt' } }],
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

  readonly store: ObjectStore = {
    read: ({ kind }: ObjectRef) => Promise.resolve(this.objects.get(kind)),
    apply: (object) => this.#write('apply', object.kind ?? '', object),
    mergePatch: async ({ kind }, patch) => {
      const live = this.objects.get(kind);
      const written = await this.#write('patch', kind, { ...live, ...patch } as KubeObject);
      // As an API server does with what is being deleted, once its last finalizer is gone.
      const isGone =
        live?.metadata.deletionTimestamp !== undefined && written.metadata['finalizers'] === null;
      if (isGone) this.objects.delete(kind);
      return written;
    },
  };

  #write(verb: string, kind: string, object: KubeObject): Promise<KubeObject> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    this.writes.push(`${verb} ${kind}`);
    return Promise.resolve(this.put(kind, object));
  }
}

function scene(): {
  readonly stored: Stored;
  readonly reach: { isReachable: boolean };
  readonly shown: string[];
  readonly said: string[];
  readonly confirmed: string[];
  readonly metrics: () => Promise<string>;
  readonly round: () => Promise<boolean>;
} {
  const [stored, registry, reach] = [new Stored(), new MetricsRegistry(), { isReachable: true }];
  const [said, confirmed]: string[][] = [[], []];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message: string) => said?.push(message),
    error: (message: string) => said?.push(message),
    close: () => Promise.resolve(),
    dropped: () => 0,
  };
  const shown: string[] = [];
  const bundle = {
    wanted: () => Promise.resolve('pem'),
    confirmed: (pem: string) => confirmed?.push(pem),
    doubted: () => confirmed?.push('doubted'),
    subscribe: () => () => undefined,
  };
  const observer = registrationObserver(log, new ConfigurationMetrics(registry, kinds, drifts), {
    repaired: (kind, found) => shown.push(`${kind}: ${found.join()}`),
  });
  const keeper = new ConfigurationKeeper(
    { store: stored.store, bundle, observer, isReachable: () => reach.isReachable },
    '1.0.0',
  );
  const wanted = { validating, mutating } as {
    readonly validating: KubeObject;
    readonly mutating: KubeObject;
  };
  return {
    stored,
    reach,
    shown,
    said: said ?? [],
    confirmed: confirmed ?? [],
    metrics: () => registry.render(),
    round: () => keeper.tryToKeep(() => wanted, new AbortController().signal),
  };
}

it('the first round creates and confirms both configurations, and the second round writes nothing', async () => {
  const { stored, said, confirmed, round } = scene();
  for (const _ of [1, 2]) expect(await round()).toBe(true);
  expect(stored.writes).toEqual(kinds.map((kind) => `apply ${kind}`));
  expect(confirmed).toEqual(['pem', 'pem']);
  expect(said).toEqual([]);
});

it('nothing is written while the ClusterRole is missing or being deleted, and one warning is logged', async () => {
  const { stored, said, confirmed, round } = scene();
  const role = { metadata: { name: 'reeve-webhook', uid: '1', deletionTimestamp: '2026-01-01T00:00:00Z' } };
  stored.put(roleKind, role);
  for (const _ of [1, 2]) await round();
  stored.objects.delete(roleKind);
  await round();
  expect([stored.writes, confirmed]).toEqual([[], []]);
  expect(said).toEqual(['webhook configurations not applied: the install lacks a ClusterRole']);
});

it('a deleted configuration is shown in the feed, logged and counted when it is created again', async () => {
  const { stored, said, shown, metrics, round } = scene();
  await round();
  stored.objects.delete(kinds[1] ?? '');
  for (const _ of [1, 2]) await round();
  expect(shown).toEqual([`${kinds[1]}: deleted`]);
  expect(said).toEqual(['webhook configuration was changed by others']);
  expect(await metrics()).toContain(
    `reeve_webhook_configuration_repairs_total{kind="${kinds[1]}",found="deleted"} 1`,
  );
});

it('a change by others is reported once, after its repair succeeds', async () => {
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
  expect(confirmed).toEqual(['pem', 'doubted', 'pem']);
});

it('a conflict is not reported, and the round is repeated', async () => {
  const { stored, said, round } = scene();
  stored.refusal = new KubeError({ code: 409, reason: 'Conflict', retryable: true });
  expect(await round()).toBe(false);
  expect(said).toEqual([]);
});

it('a field that the API server adds is overwritten once only', async () => {
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

const hold = { finalizers: ['example.com/hold'] };

it('finalizers of others are removed and reported', async () => {
  const { stored, said, metrics, round } = scene();
  await round();
  const live = stored.objects.get(kinds[1] ?? '');
  stored.put(kinds[1] ?? '', { ...validating, ...live, metadata: { ...live?.metadata, ...hold } });
  await round();
  expect(stored.writes.slice(2)).toEqual([`patch ${kinds[1]}`]);
  expect(stored.objects.get(kinds[1] ?? '')?.metadata['finalizers']).toBeNull();
  expect(said).toEqual([alarm]);
  expect(await metrics()).toContain(`{kind="${kinds[1]}",found="metadata"} 1`);
});

it('finalizers on a configuration of an earlier run are reported too', async () => {
  const { stored, said, metrics, round } = scene();
  const earlier = sealed(validating as KubeObject, true);
  stored.put(kinds[1] ?? '', { ...earlier, metadata: { ...earlier.metadata, ...hold } });
  await round();
  expect(said).toEqual([alarm]);
  expect(await metrics()).toContain(`{kind="${kinds[1]}",found="metadata"} 1`);
});

it.each<readonly [string, object, said: readonly string[]]>([
  ['a broken seal is reported', { webhooks: [] }, [alarm]],
  ['an intact seal is not reported', {}, []],
])('the first round repairs a configuration of an earlier run, and %s', async (_, change, expected) => {
  const { stored, said, round } = scene();
  const earlier = sealed({ ...validating, webhooks: [{ name: 'old.reeve.dev' }] } as KubeObject, true);
  stored.put(kinds[1] ?? '', { ...earlier, ...change });
  await round();
  expect(said).toEqual(expected);
  expect(stored.objects.get(kinds[1] ?? '')?.['webhooks']).toEqual(validating?.['webhooks']);
});

it('a configuration that is being deleted loses its finalizers, and is created again in the next round', async () => {
  const { stored, confirmed, round } = scene();
  await round();
  const live = stored.objects.get(kinds[1] ?? '');
  const ending = { ...live?.metadata, ...hold, deletionTimestamp: '2026-01-01T00:00:00Z' };
  stored.put(kinds[1] ?? '', { ...validating, ...live, metadata: ending });
  await round();
  expect(stored.objects.has(kinds[1] ?? '')).toBe(false);
  expect(confirmed).toEqual(['pem']);
  await round();
  expect(stored.writes.slice(2)).toEqual([`patch ${kinds[1]}`, `apply ${kinds[1]}`]);
  expect(stored.objects.get(kinds[1] ?? '')?.metadata.deletionTimestamp).toBeUndefined();
  expect(confirmed).toEqual(['pem', 'doubted', 'pem']);
});

/** Otherwise than this version wants it. */
const newer: KubeObject = {
  metadata: { name: 'reeve', annotations: { 'reeve.dev/version': '99.0.0' } },
  webhooks: [{ name: 'new.reeve.dev' }],
};
const left = 'webhook configuration left to a newer version';

it.each<readonly [string, KubeObject, isLeft: boolean]>([
  ['its own seal', sealed(newer, true), true],
  ['no seal', newer, false],
  ['another seal', { ...sealed(newer, true), webhooks: [{ name: 'other.reeve.dev' }] }, false],
  [
    'the seal of this version',
    {
      ...newer,
      metadata: {
        ...newer.metadata,
        annotations: {
          ...sealed({ ...newer, metadata: { annotations: { 'reeve.dev/version': '1.0.0' } } }, true).metadata
            .annotations,
          'reeve.dev/version': '99.0.0',
        },
      },
    },
    false,
  ],
])('a newer version is left alone only with its own seal: %s', async (_, claimed, isLeft) => {
  const { stored, said, round } = scene();
  await round();
  const { resourceVersion } = stored.put(kinds[1] ?? '', claimed).metadata;
  await round();
  await round();
  const { metadata, webhooks } = stored.objects.get(kinds[1] ?? '') ?? newer;
  expect(said).toEqual([isLeft ? left : alarm]);
  expect(webhooks).toEqual(isLeft ? claimed['webhooks'] : validating?.['webhooks']);
  expect(metadata['resourceVersion'] === resourceVersion).toBe(isLeft);
});

it('a configuration of a newer version gets the current bundle and keeps an intact seal', async () => {
  const { stored, confirmed, round } = scene();
  await round();
  const [kind = ''] = kinds;
  const webhooks = [
    { name: 'new.reeve.dev', timeoutSeconds: 3, clientConfig: { service, caBundle: 'b2xk' } },
  ];
  stored.put(kind, sealed({ ...newer, webhooks }, true));
  for (const _ of [1, 2]) await round();
  expect(stored.writes.slice(2)).toEqual([`patch ${kind}`]);
  const kept = stored.objects.get(kind) ?? newer;
  expect(kept).toMatchObject({
    metadata: { annotations: { 'reeve.dev/version': '99.0.0' } },
    webhooks: [{ name: 'new.reeve.dev', timeoutSeconds: 3, clientConfig: { service, caBundle: 'cGVt' } }],
  });
  expect(isSealIntact(kept)).toBe(true);
  expect(confirmed).toHaveLength(3);
});

it('before the Service is reachable, existing configurations are repaired and none is created', async () => {
  const { stored, reach, round } = scene();
  reach.isReachable = false;
  const [mutatingKind = '', validatingKind = ''] = kinds;
  stored.put(validatingKind, { metadata: { name: 'reeve' }, webhooks: [] });
  await round();
  expect(stored.writes).toEqual([`patch ${validatingKind}`]);
  reach.isReachable = true;
  await round();
  expect(stored.writes.slice(1)).toEqual([`apply ${mutatingKind}`]);
});
