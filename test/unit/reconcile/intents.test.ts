// Bindings of intents in the reconciler: their objects follow intents, engines that come and go, and their namespace.
import { describe, expect, test } from 'vitest';
import { apiVersion } from '../../../src/schema/names.ts';
import type { KubeObject } from '../../../src/base/metadata.ts';
import type { IntentAdapter } from '../../../src/policy/intents/adapter.ts';
import type { Harness } from '../../support/reconcile-harness.ts';
import { refTo } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const guard = { apiVersion: 'engine.example.com/v1', kind: 'Guard' };

/** Gives a Guard named after the intent, as the adapters of engines do. */
const engine: IntentAdapter = {
  id: 'engine',
  needs: [guard],
  provides: [guard],
  supports: ({ id }) => id === 'swDeploymentTools',
  render: ({ name, action }) => ({ resources: [{ ...guard, metadata: { name }, spec: { action } }] }),
};
const adapters = [engine];

function put(h: Harness, kind: string, name: string, spec: object, namespace?: string): void {
  const defaults =
    kind === 'SecurityIntent' ? {} : { deletionPolicy: 'Delete', maxDeletions: 20, suspend: false };
  const metadata = namespace === undefined ? { name } : { name, namespace };
  h.memory.put({ apiVersion, kind, metadata, spec: { ...defaults, ...spec } });
}

async function started(spec: object = {}): Promise<Harness> {
  const h = harness({ install: { resourceKinds: [guard] } }, undefined, { adapters });
  for (const name of ['shop', 'bank']) h.namespace(name, { team: 'yes' });
  put(h, 'SecurityIntent', 'tools', { id: 'swDeploymentTools', action: 'Block', severity: 'Low' });
  put(h, 'SecurityIntentBinding', 'no-tools', { intents: ['tools'], ...spec }, 'shop');
  h.start();
  h.setServed([guard, true]);
  await h.settle();
  return h;
}

function guards(h: Harness): readonly string[] {
  return h.memory
    .list('Guard')
    .map(
      ({ metadata, spec }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''} ${JSON.stringify(spec)}`,
    );
}

function binding(h: Harness): KubeObject | undefined {
  return h.get('SecurityIntentBinding', 'no-tools', 'shop');
}

const blocked = '{"action":"Block"}';

describe('a SecurityIntentBinding', () => {
  test('a binding provides its objects in its own namespace alone, with its labels and its id as the owner', async () => {
    const h = await started();
    expect(guards(h)).toEqual([`shop/tools ${blocked}`]);
    expect(h.memory.list('Guard')[0]?.metadata).toMatchObject({
      labels: { 'reeve.dev/securityintentbinding': 'no-tools' },
      annotations: { 'reeve.dev/owner': 'SecurityIntentBinding/shop/no-tools' },
    });
    expect(binding(h)?.metadata['finalizers']).toEqual(['reeve.dev/cleanup']);
    expect(binding(h)?.['status']).toMatchObject({ matched: 1, desired: 1, synced: 1 });
  });

  test('objects follow a changed intent, and are deleted with the binding', async () => {
    const h = await started();
    put(h, 'SecurityIntent', 'tools', { id: 'swDeploymentTools', action: 'Audit', severity: 'Low' });
    await h.settle();
    expect(guards(h)).toEqual(['shop/tools {"action":"Audit"}']);
    h.memory.delete(refTo('SecurityIntentBinding', 'no-tools', 'shop'));
    await h.settle();
    expect([guards(h), binding(h)]).toEqual([[], undefined]);
  });

  test('an intent that is created after the binding completes it', async () => {
    const h = await started();
    put(h, 'SecurityIntentBinding', 'later', { intents: ['not-yet'] }, 'bank');
    await h.settle();
    expect(guards(h)).toEqual([`shop/tools ${blocked}`]);
    put(h, 'SecurityIntent', 'not-yet', { id: 'swDeploymentTools', action: 'Block', severity: 'Low' });
    await h.settle();
    expect(guards(h)).toContain(`bank/not-yet ${blocked}`);
  });

  test('two bindings that want the same object share it, and it stays until both are deleted', async () => {
    const h = await started();
    put(h, 'ClusterSecurityIntentBinding', 'all', { intents: ['tools'], match: { names: ['shop'] } });
    await h.settle();
    expect(guards(h)).toEqual([`shop/tools ${blocked}`]);
    const before = h.memory.list('Guard')[0]?.metadata.uid;
    h.memory.delete(refTo('ClusterSecurityIntentBinding', 'all'));
    await h.settle();
    expect(h.memory.list('Guard')[0]?.metadata).toMatchObject({
      uid: before,
      annotations: { 'reeve.dev/owner': 'SecurityIntentBinding/shop/no-tools' },
    });
    h.memory.delete(refTo('SecurityIntentBinding', 'no-tools', 'shop'));
    await h.settle();
    expect(guards(h)).toEqual([]);
  });

  test('the finalizer does not hold a binding in a namespace that is being deleted', async () => {
    const h = await started();
    const shop = refTo('Namespace', 'shop');
    h.memory.change(shop, { metadata: { finalizers: ['example.com/hold'] } });
    h.memory.delete(shop);
    h.memory.delete(refTo('SecurityIntentBinding', 'no-tools', 'shop'));
    await h.settle();
    expect(binding(h)).toBeUndefined();
    expect(guards(h)).toEqual([`shop/tools ${blocked}`]);
  });
});

describe('a kind of an engine', () => {
  test('objects of a kind that is not served for a moment are left alone, and no deletion is counted', async () => {
    const h = await started({ maxDeletions: 0 });
    h.takeWrites();
    h.setServed([guard, false]);
    await h.settle();
    expect(JSON.stringify(binding(h))).not.toContain('TooManyDeletions');
    expect(guards(h)).toEqual([`shop/tools ${blocked}`]);
    expect(h.takeWrites().filter(({ kind }) => kind === 'Guard')).toEqual([]);
    h.setServed([guard, true]);
    await h.settle();
    expect(h.takeWrites().filter(({ kind }) => kind === 'Guard')).toEqual([]);
  });

  test('a binding that is deleted meanwhile waits for the kind, and then leaves nothing behind', async () => {
    const h = await started();
    h.setServed([guard, false]);
    h.memory.delete(refTo('SecurityIntentBinding', 'no-tools', 'shop'));
    await h.settle();
    expect(guards(h)).toEqual([`shop/tools ${blocked}`]);
    expect(binding(h)).toBeDefined();
    h.setServed([guard, true]);
    await h.settle();
    expect([guards(h), binding(h)]).toEqual([[], undefined]);
  });

  test('a binding that is deleted waits for at most a minute for a kind that is not served', async () => {
    const h = await started();
    h.setServed([guard, false]);
    h.memory.delete(refTo('SecurityIntentBinding', 'no-tools', 'shop'));
    await h.settle();
    await h.clock.advance(60_000);
    await h.settle();
    expect(binding(h)).toBeUndefined();
  });

  test('a binding that is deleted after its engine was removed is not held up', async () => {
    const h = await started();
    h.setServed([guard, false]);
    // The API server deletes all objects of a kind that is removed.
    h.memory.delete({ ...guard, namespace: 'shop', name: 'tools' });
    await h.settle();
    h.memory.delete(refTo('SecurityIntentBinding', 'no-tools', 'shop'));
    await h.settle();
    expect(binding(h)).toBeUndefined();
  });
});
