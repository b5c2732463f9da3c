// RoleBindings that people granted for a while end at their time, and at no other.
import { expect, test } from 'vitest';
import { failure } from '../../support/memory-objects.ts';
import { bindingPolicy, team } from '../../support/provided.ts';
import { refTo, type Harness } from '../../support/reconcile-harness.ts';
import { useHarness } from '../../support/use-harness.ts';

const harness = useHarness();
const hour = 3_600_000;

function grant(h: Harness, namespace: string, name: string, end: string | undefined, labels = {}): void {
  h.memory.put({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: {
      namespace,
      name,
      labels: { 'reeve.dev/temporary': 'true', ...labels },
      ...(end === undefined ? {} : { annotations: { 'reeve.dev/expires-at': end } }),
    },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  });
}

function begun(): Harness {
  const h = harness();
  for (const name of ['a', 'b', 'kube-system']) h.namespace(name, team);
  h.start();
  return h;
}

const names = (h: Harness) => h.memory.list('RoleBinding').map(({ metadata }) => metadata.name);
const notes = (h: Harness) =>
  h.told.events.filter(({ reason }) => reason === 'TemporaryAccess').map(({ note }) => note);

test('a grant ends at its time, and an event in the namespace says so', async () => {
  const h = begun();
  grant(h, 'a', 'short', '2026-11-21T13:00:00Z');
  grant(h, 'b', 'long', '2026-11-21T15:00:00Z');
  grant(h, 'b', 'plain', '2026-11-21T13:00:00Z', { 'reeve.dev/temporary': 'false' });
  await h.settle(0.9 * hour);
  expect(names(h)).toEqual(['short', 'long', 'plain']);
  await h.settle(1.1 * hour);
  expect([names(h), notes(h)]).toEqual([['long', 'plain'], ['RoleBinding short has ended']]);
});

test('a grant whose end is moved ends later', async () => {
  const h = begun();
  grant(h, 'a', 'g', '2026-11-21T13:00:00Z');
  await h.settle();
  const annotations = { 'reeve.dev/expires-at': '2026-11-21T16:00:00Z' };
  h.memory.change(refTo('RoleBinding', 'g', 'a'), { metadata: { annotations } });
  await h.settle(2 * hour);
  expect(names(h)).toEqual(['g']);
  await h.settle(5 * hour);
  expect(names(h)).toEqual([]);
});

test('a grant without its label is a RoleBinding as any other', async () => {
  const h = begun();
  grant(h, 'a', 'g', '2026-11-21T13:00:00Z');
  await h.settle();
  h.memory.change(refTo('RoleBinding', 'g', 'a'), {
    metadata: { labels: { 'reeve.dev/temporary': null } },
  });
  await h.settle(2 * hour);
  expect(names(h)).toEqual(['g']);
});

test('a grant that ended while no leader ran ends when one begins', async () => {
  const h = begun();
  await h.settle();
  await h.stop();
  grant(h, 'a', 'g', '2026-11-21T11:00:00Z');
  h.rerun();
  await h.settle();
  expect(names(h)).toEqual([]);
});

/** JavaScript reads each of them as a time. */
const unreadable = new Map([
  ['year', '8'],
  ['local', '2026-11-21 10:00'],
]);

test('nothing ends by guess: without a readable time, in an excluded namespace, or an object of a policy', async () => {
  const h = begun();
  h.policy('p', bindingPolicy());
  await h.settle();
  h.memory.change(refTo('RoleBinding', 'devs', 'a'), {
    metadata: {
      labels: { 'reeve.dev/temporary': 'true' },
      annotations: { 'reeve.dev/expires-at': '2026-11-21T11:00:00Z' },
    },
  });
  grant(h, 'a', 'none', undefined);
  for (const [name, end] of unreadable) grant(h, 'a', name, end);
  grant(h, 'kube-system', 'excluded', '2026-11-21T11:00:00Z');
  await h.settle(hour);
  expect(names(h)).toEqual(expect.arrayContaining(['devs', 'none', 'excluded', ...unreadable.keys()]));
  expect(notes(h)).toEqual(
    ['none', ...unreadable.keys()].map(
      (name) =>
        `RoleBinding ${name} has the label reeve.dev/temporary, but no time in the annotation reeve.dev/expires-at, so it does not end`,
    ),
  );
});

test('an end that is moved while Reeve deletes the grant is respected', async () => {
  const h = begun();
  grant(h, 'a', 'g', '2026-11-21T13:00:00Z');
  await h.settle();
  let isMoved = false;
  h.memory.fault = (verb, { kind }) => {
    if (verb !== 'delete' || kind !== 'RoleBinding' || isMoved) return undefined;
    isMoved = true;
    const annotations = { 'reeve.dev/expires-at': '2026-11-21T20:00:00Z' };
    h.memory.change(refTo('RoleBinding', 'g', 'a'), { metadata: { annotations } });
    return undefined;
  };
  await h.settle(1.1 * hour);
  expect([isMoved, names(h), notes(h)]).toEqual([true, ['g'], []]);
});

test('a grant that a finalizer keeps is said to grant still, and not to have ended', async () => {
  const h = begun();
  grant(h, 'a', 'g', '2026-11-21T13:00:00Z');
  h.memory.change(refTo('RoleBinding', 'g', 'a'), { metadata: { finalizers: ['example.com/held'] } });
  await h.settle(1.1 * hour);
  expect(notes(h)).toEqual(['RoleBinding g should have ended; finalizers keep it, and it grants until then']);
});

test('an end that the API server refuses is said, and tried again', async () => {
  const h = begun();
  grant(h, 'a', 'g', '2026-11-21T13:00:00Z');
  await h.settle();
  h.memory.fault = (verb, { kind }) =>
    verb === 'delete' && kind === 'RoleBinding' ? failure(403) : undefined;
  await h.clock.advance(1.1 * hour);
  await h.quiet();
  expect(notes(h)[0]).toMatch(/^RoleBinding g did not end: /);
  h.memory.fault = () => undefined;
  await h.settle(hour);
  expect(names(h)).toEqual([]);
});
