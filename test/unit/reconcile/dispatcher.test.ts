// The dispatcher enqueues work only after all caches have heard of a change.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/base/metadata.ts';
import { Dispatcher } from '../../../src/reconcile/dispatcher.ts';
import { ProviderLedger } from '../../../src/reconcile/ledger.ts';
import { assemblePlanning } from '../../../src/reconcile/planning.ts';
import { testContext } from '../../support/reconcile-context.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const bindingType = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' };

function binding(): KubeObject {
  const labels = { 'app.kubernetes.io/managed-by': 'reeve' };
  const annotations = { 'reeve.dev/owner': 'NamespacePolicy/p' };
  return {
    ...bindingType,
    metadata: { name: 'team', namespace: 'a', uid: 'binding', resourceVersion: '2', labels, annotations },
  };
}

function namespaceOf(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: name } };
}

const manyNames = ['a', 'b', ...Array.from({ length: 15 }, (_, index) => `n${index}`)];

function policy(generation: number): KubeObject {
  return {
    apiVersion: 'reeve.dev/v1alpha1',
    kind: 'NamespacePolicy',
    metadata: { name: 'p', uid: 'p', resourceVersion: String(generation), generation },
    spec: { match: { names: manyNames }, maxDeletions: generation },
  };
}

function begin() {
  const clock = new VirtualClock({ start: new Date('2030-01-01T00:00:00Z'), chance: 0.5 });
  const order: string[] = [];
  const queue = {
    add: (key: string, urgency = 'now') =>
      void order.push(`enqueued ${key}${urgency === 'bulk' ? ' with others' : ''}`),
    addAfter: (key: string) => void order.push(`enqueued ${key} for later`),
  };
  const context = testContext({ clock });
  Object.assign(context.namespaceQueue, queue);
  Object.assign(context.providerQueue, queue);
  const { cluster } = context;
  const planning = assemblePlanning(context, {
    kinds: { isKindTerminating: () => Promise.resolve(false) },
    orphaned: () => undefined,
  });
  const { objects } = planning;
  const dispatcher = new Dispatcher(context, planning, new ProviderLedger(context), { isDone: true });
  dispatcher.begin();
  // A cache that was built after the dispatcher.
  cluster.subscribe({ namespace: () => order.push('cache'), provider: () => order.push('cache') });
  objects.subscribe({ changed: () => order.push('cache'), synced: () => order.push('cache') });
  return { cluster, objects, order, dispatcher };
}

test('a change of a Namespace reaches caches that were built after the dispatcher before it enqueues work', () => {
  const { cluster, order } = begin();
  cluster.namespaces.changed(namespaceOf('a'));
  expect(order).toEqual(['cache', 'enqueued a']);
});

test('a change of a provider reaches caches that were built after the dispatcher before it enqueues work', () => {
  const { cluster, order } = begin();
  cluster.sinks.NamespacePolicy.changed(policy(1));
  expect(order[0]).toBe('cache');
  expect(order).toContain('enqueued NamespacePolicy/p');
});

test('all namespaces of a changed provider wait for a namespace that changes alone', () => {
  const { cluster, order } = begin();
  cluster.sinks.NamespacePolicy.changed(policy(1));
  for (const name of manyNames) cluster.namespaces.changed(namespaceOf(name));
  order.length = 0;
  cluster.sinks.NamespacePolicy.changed(policy(2));
  cluster.namespaces.changed(namespaceOf('c'));
  expect(order.filter((each) => each !== 'cache' && !each.includes('/'))).toEqual([
    ...manyNames.map((name) => `enqueued ${name} with others`),
    'enqueued c',
  ]);
});

test('a provider of few namespaces does not wait behind a provider of all', () => {
  const { cluster, order } = begin();
  cluster.sinks.NamespacePolicy.changed(policy(1));
  for (const name of ['a', 'b']) cluster.namespaces.changed(namespaceOf(name));
  order.length = 0;
  cluster.sinks.NamespacePolicy.changed(policy(2));
  expect(order).toEqual(expect.arrayContaining(['enqueued a', 'enqueued b']));
});

test('a new leader looks at all namespaces as a bulk', () => {
  const { cluster, order, dispatcher } = begin();
  cluster.namespaces.changed(namespaceOf('a'));
  order.length = 0;
  dispatcher.begin();
  expect(order).toEqual(['enqueued a with others']);
});

test('a change of an object reaches caches that were built after the dispatcher before it enqueues work', () => {
  const { cluster, objects, order } = begin();
  cluster.namespaces.changed(namespaceOf('a'));
  const sink = objects.sink(bindingType);
  sink.replaced([], '1');
  order.length = 0;
  sink.changed(binding());
  expect(order).toEqual(['cache', 'enqueued a']);
});
