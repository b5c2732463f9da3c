// Tests how bindings follow what they depend on: intents, and the kinds of security engines that the API server serves.
import { anyInstall } from '../../../src/policy/terms/install.ts';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
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

function watched(options: { readonly intentsRemoved?: () => void } = {}) {
  const cluster = new LiveCluster({
    ...options,
    install: anyInstall,
    adapters,
  });
  const changes: string[] = [];
  cluster.subscribe({
    provider: ({ id, affectsNamespaces }) => changes.push(`${id} ${affectsNamespaces ? 'affected' : 'same'}`),
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
  cluster.sinks.SecurityIntentBinding.replaced([binding('one', 'a'), binding('two', 'b')], '1');
  news();
  expect(provided()).toEqual({ 'SecurityIntentBinding/shop/one': [], 'SecurityIntentBinding/shop/two': [] });
  cluster.sinks.SecurityIntent.replaced([intent('a', dns), intent('c', dns)], '1');
  expect(news()).toEqual(['SecurityIntentBinding/shop/one affected']);
  expect(provided()).toMatchObject({ 'SecurityIntentBinding/shop/one': ['a-block'] });
  cluster.sinks.SecurityIntent.changed(intent('a', { ...dns, action: 'Audit' }, '2'));
  expect(provided()).toMatchObject({ 'SecurityIntentBinding/shop/one': ['a-audit'] });
  cluster.sinks.SecurityIntent.removed(intent('a', dns, '3'));
  expect(provided()).toMatchObject({ 'SecurityIntentBinding/shop/one': [] });
  expect(news()).toHaveLength(2);
});

test('an intent that changes nothing but its metadata changes no binding', () => {
  const { cluster, news } = watched();
  cluster.sinks.SecurityIntent.changed(intent('a', dns));
  cluster.sinks.SecurityIntentBinding.changed(binding('one', 'a'));
  news();
  cluster.sinks.SecurityIntent.changed(intent('a', dns, '2'));
  expect(news()).toEqual([]);
});

test('a later version of an intent that does not load leaves the earlier version in force', () => {
  const { cluster, news, provided } = watched();
  cluster.sinks.SecurityIntent.changed(intent('a', dns));
  cluster.sinks.SecurityIntentBinding.changed(binding('one', 'a'));
  news();
  cluster.sinks.SecurityIntent.changed(intent('a', { id: 'noSuchId' }, '2'));
  expect(news()).toEqual([]);
  expect(provided()).toEqual({ 'SecurityIntentBinding/shop/one': ['a-block'] });
});

test('a binding whose intent does not load keeps its objects, until the intent loads', () => {
  const { cluster, provided } = watched();
  cluster.sinks.SecurityIntent.changed(intent('a', dns));
  cluster.sinks.SecurityIntentBinding.changed(binding('one', 'a'));
  // Deleted and created again: this process has seen no version of the new object that loads.
  cluster.sinks.SecurityIntent.changed({
    ...intent('a', { id: 'noSuchId' }),
    metadata: { name: 'a', uid: 'new', resourceVersion: '3' },
  });
  expect(cluster.provider('SecurityIntentBinding/shop/one')).toMatchObject({ standing: 'last-good' });
  expect(provided()).toEqual({ 'SecurityIntentBinding/shop/one': ['a-block'] });
  cluster.sinks.SecurityIntent.changed({
    ...intent('a', { ...dns, action: 'Warn' }),
    metadata: { name: 'a', uid: 'new', resourceVersion: '4' },
  });
  expect(cluster.provider('SecurityIntentBinding/shop/one')).toMatchObject({ standing: 'loaded' });
  expect(provided()).toEqual({ 'SecurityIntentBinding/shop/one': ['a-warn'] });
});

test('bindings of one name in two namespaces, and of the cluster, are different providers', () => {
  const { cluster, provided } = watched();
  cluster.sinks.SecurityIntent.changed(intent('a', dns));
  const other = stored('SecurityIntentBinding', 'one', { intents: ['b'] }, '1', 'bank');
  cluster.sinks.SecurityIntentBinding.replaced(
    [binding('one', 'a'), { ...other, metadata: { ...other.metadata, uid: 'x' } }],
    '1',
  );
  cluster.sinks.ClusterSecurityIntentBinding.replaced(
    [stored('ClusterSecurityIntentBinding', 'one', { intents: ['a'] })],
    '1',
  );
  expect(provided()).toEqual({
    'ClusterSecurityIntentBinding/one': ['a-block'],
    'SecurityIntentBinding/bank/one': [],
    'SecurityIntentBinding/shop/one': ['a-block'],
  });
  cluster.sinks.SecurityIntentBinding.removed(binding('one', 'a'));
  expect(Object.keys(provided())).toEqual([
    'ClusterSecurityIntentBinding/one',
    'SecurityIntentBinding/bank/one',
  ]);
});

test('a kind that is served or no longer served changes what bindings provide, in the same step', () => {
  const { cluster, news, provided } = watched();
  cluster.sinks.SecurityIntent.replaced([intent('a', dns), intent('e', engineIntent)], '1');
  cluster.sinks.SecurityIntentBinding.changed(binding('one', 'a', 'e'));
  news();
  const told: unknown[] = [];
  cluster.subscribe({
    provider: () =>
      told.push([cluster.snapshot().isServed(guard), provided()['SecurityIntentBinding/shop/one']]),
  });
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
    install: { ...anyInstall, adapters: new Set(['always']) },
    adapters,
  });
  cluster.sinks.SecurityIntent.changed(intent('e', engineIntent));
  cluster.sinks.SecurityIntentBinding.changed(binding('one', 'e'));
  expect(cluster.neededKinds).toEqual([]);
  expect(cluster.snapshot().policies.policies.map(({ contents }) => contents)).toEqual([[]]);
});

const one = 'SecurityIntentBinding/shop/one';

/** A binding with one intent, which is then removed. */
function withRemoved() {
  const watch = watched({ intentsRemoved: () => undefined });
  const { cluster } = watch;
  cluster.sinks.SecurityIntent.replaced([intent('a', dns)], '1');
  cluster.setIntentKind('kind-1', cluster.removedIntents);
  cluster.sinks.SecurityIntentBinding.changed(binding('one', 'a'));
  watch.news();
  cluster.sinks.SecurityIntent.removed(intent('a', dns, '2'));
  return watch;
}

test('a removed intent stays in force until it is known that its kind is still there', () => {
  const { cluster, news, provided } = withRemoved();
  expect([news(), provided()[one]]).toEqual([[], ['a-block']]);
  cluster.setIntentKind('kind-1', cluster.removedIntents);
  expect([news(), provided()[one]]).toEqual([[`${one} affected`], []]);
  expect(cluster.provider(one)).toMatchObject({ standing: 'loaded' });
});

test.for([
  ['is missing or being deleted', undefined],
  ['was deleted and created again', 'kind-2'],
] as const)('a binding whose intent was removed keeps its objects if the kind %s', ([, uid]) => {
  const { cluster, provided } = withRemoved();
  cluster.setIntentKind(uid, cluster.removedIntents);
  expect(provided()[one]).toEqual(['a-block']);
  expect(cluster.provider(one)).toMatchObject({
    standing: 'last-good',
    problems: [{ found: 'SecurityIntent a, which was deleted together with its CustomResourceDefinition' }],
  });
  // The kind is created again, and has no intents at first.
  cluster.sinks.SecurityIntent.replaced([], '9');
  cluster.setIntentKind('kind-2', cluster.removedIntents);
  expect(provided()[one]).toEqual(['a-block']);
  cluster.sinks.SecurityIntent.changed(intent('a', { ...dns, action: 'Warn' }, '10'));
  expect([provided()[one], cluster.provider(one)?.standing]).toEqual([['a-warn'], 'loaded']);
  cluster.sinks.SecurityIntent.removed(intent('a', dns, '11'));
  cluster.setIntentKind('kind-2', cluster.removedIntents);
  expect(provided()[one]).toEqual([]);
});

test('an answer says nothing about an intent that was removed after the question', () => {
  const { cluster, provided } = withRemoved();
  cluster.setIntentKind('kind-1', new Set());
  expect([provided()[one], [...cluster.removedIntents]]).toEqual([['a-block'], ['a']]);
});

test('a binding whose intents have no kind does not load, until the kind is served', () => {
  const { cluster } = watched();
  cluster.sinks.SecurityIntent.replaced([], '0');
  cluster.sinks.SecurityIntentBinding.changed(binding('one', 'a'));
  expect(cluster.provider(one)).toMatchObject({ standing: 'refused', state: { isValid: false } });
  cluster.sinks.SecurityIntent.replaced([], '5');
  expect(cluster.provider(one)).toMatchObject({ standing: 'loaded' });
});
