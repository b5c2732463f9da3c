// Whatever happens, in whatever order and however late the news of it: in the end all is as it is wanted, and stays so.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/api/kube-object.ts';
import { adoptLabel } from '../../src/api/names.ts';
import { Harness, refTo } from '../support/reconcile-harness.ts';
import { deviations } from '../support/reconcile-oracle.ts';

type Action = (h: Harness) => void | Promise<void>;

interface Op {
  readonly name: string;
  readonly run: Action;
}

const namespaces = ['n1', 'n2', 'n3'];
const namespace = fc.constantFrom(...namespaces);
const labels = fc.record({ a: fc.constantFrom('yes', 'no'), b: fc.constantFrom('yes', 'no') });
const match = fc.constantFrom<object>(
  { namespaceSelector: { matchLabels: { a: 'yes' } } },
  { namespaceSelector: { matchLabels: { b: 'yes' } } },
  { names: ['n1', 'n2'] },
  { names: ['*'] },
);
const role = fc.constantFrom('edit', 'view');

function bindingOf(name: string, roleName: string, group: string): object {
  return {
    name,
    roleRef: { kind: 'ClusterRole', name: roleName },
    subjects: [{ kind: 'Group', name: group }],
  };
}

const contents = fc.record({
  role,
  group: fc.constantFrom('x', '${namespaceObject.metadata.labels.a}'),
  pods: fc.constantFrom('5', '6', ''),
});

const policySpec = fc
  .record({ match, contents })
  .map(({ match: term, contents: { role: roleName, group, pods } }) => ({
    match: term,
    maxDeletions: 1000,
    contents: {
      roleBindings: [bindingOf('shared', roleName, group)],
      resources:
        pods === ''
          ? []
          : [
              {
                apiVersion: 'v1',
                kind: 'ResourceQuota',
                metadata: { name: 'team' },
                spec: { hard: { pods } },
              },
            ],
    },
  }));

const shareSpec = fc
  .record({
    targets: match,
    name: fc.constantFrom('copy', 'other'),
    source: fc.constantFrom('s1', 's2'),
    immutable: fc.boolean(),
    type: fc.constantFrom('', 'example.com/x'),
  })
  .map(({ targets, source, ...target }) => ({
    source: { namespace: 'reeve-shared', name: source },
    targets,
    target,
    maxDeletions: 1000,
  }));

const named = (name: string, run: Action): Op => ({ name, run });

const calmOps = [
  fc.tuple(namespace, labels).map(([name, set]) =>
    named(`namespace ${name} ${JSON.stringify(set)}`, (h) => {
      const { deletionTimestamp } = h.get('Namespace', name)?.metadata ?? {};
      if (deletionTimestamp === undefined) h.namespace(name, set);
    }),
  ),
  fc.tuple(fc.constantFrom('p1', 'p2'), policySpec).map(([name, spec]) =>
    named(`policy ${name} ${JSON.stringify(spec)}`, (h) => {
      if (h.get('NamespacePolicy', name)?.metadata.deletionTimestamp === undefined) h.policy(name, spec);
    }),
  ),
  fc.tuple(fc.constantFrom('s1', 's2'), shareSpec).map(([name, spec]) =>
    named(`share ${name} ${JSON.stringify(spec)}`, (h) => {
      if (h.get('SecretShare', name)?.metadata.deletionTimestamp === undefined) h.share(name, spec);
    }),
  ),
  fc
    .constantFrom('p1', 'p2')
    .map((name) => named(`delete policy ${name}`, (h) => h.memory.delete(refTo('NamespacePolicy', name)))),
  fc
    .constantFrom('s1', 's2')
    .map((name) => named(`delete share ${name}`, (h) => h.memory.delete(refTo('SecretShare', name)))),
  fc
    .tuple(
      fc.constantFrom('s1', 's2'),
      fc.dictionary(fc.constantFrom('k', 'l', '__proto__'), fc.constantFrom('1', '2')),
    )
    .map(([name, data]) =>
      named(`source ${name} ${JSON.stringify(data)}`, (h) => h.secret('reeve-shared', name, data)),
    ),
];

const objects = fc.constantFrom(
  ['Secret', 'copy'],
  ['Secret', 'other'],
  ['RoleBinding', 'shared'],
  ['ResourceQuota', 'team'],
);

const wildOps = [
  ...calmOps,
  fc
    .tuple(objects, namespace)
    .map(([[kind = '', name = ''], space]) =>
      named(`someone deletes ${kind} ${name} in ${space}`, (h) => h.memory.delete(refTo(kind, name, space))),
    ),
  fc
    .tuple(
      objects,
      namespace,
      fc.constantFrom<object>(
        { data: { z: 'eg==' } },
        { subjects: [] },
        { metadata: { labels: null } },
        { metadata: { labels: { [adoptLabel]: 'true' } } },
        { spec: { hard: { pods: '99' } } },
      ),
    )
    .map(([[kind = '', name = ''], space, patch]) =>
      named(`someone changes ${kind} ${name} in ${space} ${JSON.stringify(patch)}`, (h) => {
        const ref = refTo(kind, name, space);
        const known = h.memory.get(ref);
        if (known !== undefined && known['immutable'] !== true) h.memory.change(ref, { ...patch });
      }),
    ),
  fc
    .tuple(objects, namespace, fc.boolean())
    .map(([[kind = '', name = ''], space, isOffered]) =>
      named(`someone makes ${kind} ${name} in ${space} ${isOffered ? 'offered' : ''}`, (h) =>
        makeForeign(h, kind, name, space, isOffered),
      ),
    ),
  namespace.map((name) =>
    named(`delete namespace ${name}`, (h) => h.memory.delete(refTo('Namespace', name))),
  ),
  namespace.map((name) =>
    named(`finish namespace ${name}`, (h) => {
      if (h.get('Namespace', name)?.metadata.deletionTimestamp !== undefined) h.memory.finishNamespace(name);
    }),
  ),
  fc
    .constantFrom('s1', 's2')
    .map((name) =>
      named(`delete source ${name}`, (h) => h.memory.delete(refTo('Secret', name, 'reeve-shared'))),
    ),
  fc.constantFrom('p1', 'p2').map((name) =>
    named(`suspend ${name}`, (h) => {
      if (h.get('NamespacePolicy', name) !== undefined)
        h.memory.change(refTo('NamespacePolicy', name), { spec: { suspend: true } });
    }),
  ),
  fc.constantFrom('p1', 'p2').map((name) =>
    named(`break ${name}`, (h) => {
      if (h.get('NamespacePolicy', name) !== undefined)
        h.memory.change(refTo('NamespacePolicy', name), { spec: { nonsense: 1 } });
    }),
  ),
  fc.constant(named('relist', (h) => h.memory.relist())),
  fc.constant(
    named('restart', async (h) => {
      await h.stop();
      h.start();
    }),
  ),
];

/** How much of the news arrives before the next thing happens. */
const lag = fc.constantFrom('none', 'some', 'all', 'settled');

function makeForeign(h: Harness, kind: string, name: string, space: string, isOffered: boolean): void {
  const { deletionTimestamp } = h.get('Namespace', space)?.metadata ?? { deletionTimestamp: '' };
  if (deletionTimestamp !== undefined || h.get(kind, name, space) !== undefined) return;
  const bodies: Record<string, object> = {
    Secret: { type: 'Opaque', data: { mine: 'bQ==' } },
    RoleBinding: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' } },
    ResourceQuota: { spec: { hard: { pods: '1' } } },
  };
  const metadata = { namespace: space, name, labels: isOffered ? { [adoptLabel]: 'true' } : {} };
  h.memory.put({ apiVersion: refTo(kind, name).apiVersion, kind, metadata, ...bodies[kind] });
}

async function arrive(h: Harness, how: string, seed: number): Promise<void> {
  let left = how === 'some' ? seed % 7 : Infinity;
  if (how === 'none') return;
  if (how === 'settled') return await h.settle();
  for (; left > 0 && h.memory.hasNews; left -= 1) {
    h.memory.deliver((count) => (seed + left) % count);
    await new Promise(setImmediate);
  }
}

async function begun(): Promise<Harness> {
  const h = new Harness();
  h.memory.isLagging = true;
  h.namespace('reeve-shared');
  h.secret('reeve-shared', 's1', { k: 'one' });
  for (const name of namespaces) h.namespace(name, { a: 'yes', b: 'no' });
  h.start();
  await h.settle();
  return h;
}

async function isWell(h: Harness): Promise<void> {
  await h.settle(130_000);
  expect(deviations(h.memory, h.time.now())).toEqual([]);
  h.takeWrites();
  // A new process finds nothing to do.
  await h.stop();
  h.start();
  await h.settle();
  expect(h.takeWrites()).toEqual([]);
  await h.end();
}

describe('the reconciler brings about what is wanted', () => {
  test('after any sequence of events, told in any order', async () => {
    const step = fc.record({ op: fc.oneof(...wildOps), how: lag, seed: fc.nat(1000), latency: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const h = await begun();
        for (const { op, how, seed, latency } of steps) {
          h.memory.latency = () => latency;
          await op.run(h);
          await arrive(h, how, seed);
        }
        await isWell(h);
      }),
      { numRuns: 300 },
    );
  });

  test('and the same whether it keeps up with the events or sees only the last state', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(...calmOps), { minLength: 1, maxLength: 15 }), async (ops) => {
        const [prompt, late] = [await begun(), await begun()];
        for (const { run } of ops) {
          await run(prompt);
          await prompt.settle();
          await run(late);
        }
        await isWell(prompt);
        await isWell(late);
        expect(stateOf(late)).toEqual(stateOf(prompt));
      }),
      { numRuns: 60 },
    );
  });
});

function stateOf(h: Harness): unknown {
  return ['Secret', 'RoleBinding', 'ResourceQuota', 'NamespacePolicy', 'SecretShare']
    .flatMap((kind) => h.memory.list(kind))
    .map(timeless)
    .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}

function timeless({ metadata, status: _status, ...rest }: KubeObject): unknown {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    generation: _generation,
    finalizers: _f,
    ...kept
  } = metadata;
  return { ...rest, metadata: kept };
}
