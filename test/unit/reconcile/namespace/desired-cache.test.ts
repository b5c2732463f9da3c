// Tests which changes make the desired objects of a namespace be computed again.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../src/base/metadata.ts';
import { DesiredCache } from '../../../../src/reconcile/fuse/undesired-objects.ts';
import { knownNamespace } from '../../../support/engine.ts';
import { testContext } from '../../../support/reconcile-context.ts';
import { start } from '../../../support/reconcile-harness.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

function stored(kind: string, spec: object, version: string, namespace?: string): KubeObject {
  const place = namespace === undefined ? {} : { namespace };
  const metadata = { ...place, name: 'x', uid: kind, resourceVersion: version };
  return { apiVersion: 'reeve.dev/v1alpha1', kind, metadata, spec };
}

function cached() {
  const context = testContext({ clock: new VirtualClock({ start, chance: 0.5 }) });
  const { cluster } = context;
  const cache = new DesiredCache(context);
  const [shop, bank] = [knownNamespace('shop'), knownNamespace('bank')];
  cluster.namespaces.replaced([shop, bank], '1');
  const both = () => [cache.of(shop), cache.of(bank)] as const;
  /** Returns the names of the namespaces whose desired objects were computed again. */
  const after = (change: () => void): readonly string[] => {
    const before = both();
    change();
    const now = both();
    return ['shop', 'bank'].filter((_, index) => before[index] !== now[index]);
  };
  return { cluster, after };
}

test('nothing is computed again without a change', () => {
  const { after } = cached();
  expect(after(() => undefined)).toEqual([]);
});

test('a provider of the cluster concerns all namespaces', () => {
  const { cluster, after } = cached();
  expect(after(() => cluster.sinks.NamespacePolicy.changed(stored('NamespacePolicy', {}, '1')))).toEqual([
    'shop',
    'bank',
  ]);
  const spec = { intents: ['a'] };
  const binding = stored('ClusterSecurityIntentBinding', spec, '1');
  expect(after(() => cluster.sinks.ClusterSecurityIntentBinding.changed(binding))).toEqual(['shop', 'bank']);
});

test('a SecurityIntentBinding concerns its own namespace alone', () => {
  const { cluster, after } = cached();
  const binding = (version: string, intents: readonly string[]) =>
    stored('SecurityIntentBinding', { intents }, version, 'bank');
  expect(after(() => cluster.sinks.SecurityIntentBinding.changed(binding('1', ['a'])))).toEqual(['bank']);
  expect(after(() => cluster.sinks.SecurityIntentBinding.changed(binding('2', ['a', 'b'])))).toEqual([
    'bank',
  ]);
  expect(after(() => cluster.sinks.SecurityIntentBinding.removed(binding('2', ['a', 'b'])))).toEqual([
    'bank',
  ]);
});
