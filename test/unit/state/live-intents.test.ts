// Tests how bindings follow what they depend on: intents, and the kinds of security engines that the API server serves.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/kube-object.ts';
import type { Intent, IntentAdapter } from '../../../src/policy/intents/adapter.ts';
import { LiveCluster } from '../../../src/state/live-cluster.ts';

const guard = { apiVersion: 'engine.example.com/v1', kind: 'Guard' };

/** Gives one object for each intent, so that a test sees which version of the intent is in force. */
function adapterOf(id: string, type: typeof guard, isOptional: boolean): IntentAdapter {
  return {
    id,
    needs: isOptional ? [type] : [],
    provides: [type],
    supports: ({ id: intentId }: Intent) => intentId === (isOptional ? 'exploitPFA' : 'dnsManipulation'),
    render: ({ name, action }) => ({
      resources: [{ ...type, metadata: { name: `${name}-${action.toLowerCase()}` } }],
    }),
  };
}

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };
const adapters = [adapterOf('always', configMap, false), adapterOf('optional', guard, true)];

function stored(kind: string, name: string, spec: object, version = '1', namespace?: string): KubeObject {
  const place = namespace === undefined ? {} : { namespace };
  const metadata = { ...place, name, uid: `uid-of-${name}`, resourceVersion: version };
  return { apiVersion: 'reeve.dev/v1alpha1', kind, metadata, spec };
}

function intent(name: string, spec: object, version?: string): KubeObject {
  return stored('SecurityIntent', name, spec, version);
}

function binding(name: string, ...intents: readonly string[]): KubeObject {
  return stored('SecurityIntentBinding', name, { intents }, '1', 'shop');
}

function watched() {
  const cluster = new LiveCluster({
    excludedNamespaces: [],
    adapters: { adapters, offered: undefined, settings: { tlsScanImage: undefined } },
  });
  const changes: string[] = [];
  cluster.subscribe((change) => {
    if (change.kind === 'provider')
      changes.push(`${change.id} ${change.affectsNamespaces ? 'anew' : 'same'}`);
  });
  return {
    cluster,
    news: () => changes.splice(0),
    /** The names of the objects that each binding provides. */
    provided: () =>
      Object.fromEntries(
        cluster
          .snapshot()
          .policies.policies.map(({ id, contents }) => [id, contents.map(({ name }) => name)]),
      ),
  };
}

const dns = { id: 'dnsManipulation' };
const engineIntent = { id: 'exploitPFA' };

test('a binding gets its objects when an intent that it names appears, changes and is deleted', () => {
  const { cluster, news, provided } = watched();
  cluster.bindings.replaced([binding('one', 'a'), binding('two', 'b')], '1');
  news();
  expect(provided()).toEqual({ 'SecurityIntentBinding/shop/one': [], 'SecurityIntentBinding/shop/two': [] });
  cluster.intents.replaced([intent('a', dns), intent('c', dns)], '1');
  expect(news()).toEqual(['SecurityIntentBinding/shop/one anew']);
  expect(provided()).toMatchObject({ 'SecurityIntentBinding/shop/one': ['a-block'] });
  cluster.intents.changed(intent('a', { ...dns, action: 'Audit' }, '2'));
  expect(provided()).toMatchObject({ 'SecurityIntentBinding/shop/one': ['a-audit'] });
  cluster.intents.removed(intent('a', dns, '3'));
  expect(provided()).toMatchObject({ 'SecurityIntentBinding/shop/one': [] });
  expect(news()).toHaveLength(2);
});

test('an intent that changes nothing but its metadata changes no binding', () => {
  const { cluster, news } = watched();
  cluster.intents.changed(intent('a', dns));
  cluster.bindings.changed(binding('one', 'a'));
  news();
  cluster.intents.changed(intent('a', dns, '2'));
  expect(news()).toEqual([]);
});

test('a later version of an intent that does not load leaves the earlier version in force', () => {
  const { cluster, news, provided } = watched();
  cluster.intents.changed(intent('a', dns));
  cluster.bindings.changed(binding('one', 'a'));
  news();
  cluster.intents.changed(intent('a', { id: 'noSuchId' }, '2'));
  expect(news()).toEqual([]);
  expect(provided()).toEqual({ 'SecurityIntentBinding/shop/one': ['a-block'] });
});

test('a binding whose intent does not load keeps its objects, until the intent loads', () => {
  const { cluster, provided } = watched();
  cluster.intents.changed(intent('a', dns));
  cluster.bindings.changed(binding('one', 'a'));
  // Deleted and created again: this process has seen no version of the new object that loads.
  cluster.intents.changed({
    ...intent('a', { id: 'noSuchId' }),
    metadata: { name: 'a', uid: 'new', resourceVersion: '3' },
  });
  expect(cluster.provider('SecurityIntentBinding/shop/one')).toMatchObject({ standing: 'last-good' });
  expect(provided()).toEqual({ 'SecurityIntentBinding/shop/one': ['a-block'] });
  cluster.intents.changed({
    ...intent('a', { ...dns, action: 'Warn' }),
    metadata: { name: 'a', uid: 'new', resourceVersion: '4' },
  });
  expect(cluster.provider('SecurityIntentBinding/shop/one')).toMatchObject({ standing: 'loaded' });
  expect(provided()).toEqual({ 'SecurityIntentBinding/shop/one': ['a-warn'] });
});

test('bindings of one name in two namespaces, and of the cluster, are different providers', () => {
  const { cluster, provided } = watched();
  cluster.intents.changed(intent('a', dns));
  const other = stored('SecurityIntentBinding', 'one', { intents: ['b'] }, '1', 'bank');
  cluster.bindings.replaced(
    [binding('one', 'a'), { ...other, metadata: { ...other.metadata, uid: 'x' } }],
    '1',
  );
  cluster.clusterBindings.replaced([stored('ClusterSecurityIntentBinding', 'one', { intents: ['a'] })], '1');
  expect(provided()).toEqual({
    'ClusterSecurityIntentBinding/one': ['a-block'],
    'SecurityIntentBinding/bank/one': [],
    'SecurityIntentBinding/shop/one': ['a-block'],
  });
  cluster.bindings.removed(binding('one', 'a'));
  expect(Object.keys(provided())).toEqual([
    'ClusterSecurityIntentBinding/one',
    'SecurityIntentBinding/bank/one',
  ]);
});

test('a kind that is served or no longer served changes what bindings provide, in the same step', () => {
  const { cluster, news, provided } = watched();
  cluster.intents.replaced([intent('a', dns), intent('e', engineIntent)], '1');
  cluster.bindings.changed(binding('one', 'a', 'e'));
  news();
  const told: unknown[] = [];
  cluster.subscribe(() =>
    told.push([cluster.snapshot().isServed(guard), provided()['SecurityIntentBinding/shop/one']]),
  );
  cluster.setServed([[guard, true]]);
  cluster.setServed([[guard, true]]);
  cluster.setServed([[guard, false]]);
  expect(told).toEqual([
    [true, ['a-block', 'e-block']],
    [false, ['a-block']],
  ]);
  expect(news()).toHaveLength(2);
});

test('an adapter that the installation does not offer renders nothing, also when its kinds are served', () => {
  const cluster = new LiveCluster({
    excludedNamespaces: [],
    adapters: { adapters, offered: new Set(['always']), settings: { tlsScanImage: undefined } },
  });
  cluster.intents.changed(intent('e', engineIntent));
  cluster.bindings.changed(binding('one', 'e'));
  expect(cluster.neededKinds).toEqual([]);
  expect(cluster.snapshot().policies.policies.map(({ contents }) => contents)).toEqual([[]]);
});
