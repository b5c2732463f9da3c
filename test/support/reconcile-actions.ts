// Random actions on a cluster that Reeve manages, for property tests.
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { adoptLabel } from '../../src/schema/names.ts';
import { failure } from './memory-objects.ts';
import { Harness, refTo } from './reconcile-harness.ts';

type Action = (h: Harness) => void | Promise<void>;

export interface Op {
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

export const policySpec = fc
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

export const shareSpec = fc
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

export const calmOps = [
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

export const wildOps = [
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
        const isFitting = Object.keys(patch).every(
          (field) => known !== undefined && Object.hasOwn(known, field),
        );
        if (isFitting && known?.['immutable'] !== true) h.memory.change(ref, { ...patch });
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
  fc
    .tuple(fc.constantFrom(0, 409, 429, 500, 503), fc.integer({ min: 1, max: 12 }))
    .map(([code, times]) =>
      named(`the API server answers ${code} ${times} times`, (h) => failFor(h, code, times)),
    ),
  fc
    .tuple(objects, namespace)
    .map(([[kind = '', name = ''], space]) =>
      named(`someone puts a finalizer on ${kind} ${name} in ${space}`, (h) =>
        finalizersOf(h, kind, name, space, ['example.com/x']),
      ),
    ),
  fc
    .tuple(objects, namespace)
    .map(([[kind = '', name = ''], space]) =>
      named(`someone takes the finalizer off ${kind} ${name} in ${space}`, (h) =>
        finalizersOf(h, kind, name, space, []),
      ),
    ),
  fc.constant(named('relist', (h) => h.memory.relist())),
  fc.constant(
    named('restart', async (h) => {
      await h.stop();
      h.start();
    }),
  ),
];

/** Decides how many watch events arrive before the next action. */
export const lag = fc.constantFrom('none', 'some', 'all', 'settled');

function failFor(h: Harness, code: number, times: number): void {
  let left = times;
  h.memory.fault = () => {
    left -= 1;
    return left < 0 ? undefined : failure(code);
  };
}

function finalizersOf(
  h: Harness,
  kind: string,
  name: string,
  space: string,
  finalizers: readonly string[],
): void {
  const ref = refTo(kind, name, space);
  if (h.memory.get(ref) !== undefined) h.memory.change(ref, { metadata: { finalizers } });
}

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

export async function arrive(h: Harness, how: string, seed: number): Promise<void> {
  if (how === 'none') return;
  if (how === 'settled') {
    await h.settle();
    return;
  }
  const most = how === 'some' ? seed % 7 : Infinity;
  for (let told = 0; told < most && h.memory.hasNews; told += 1) {
    h.memory.deliver((count) => (seed + told) % count);
    await setImmediate();
  }
}

export async function begun(): Promise<Harness> {
  const h = new Harness();
  h.memory.isLagging = true;
  h.namespace('reeve-shared');
  for (const name of ['s1', 's2']) h.secret('reeve-shared', name, { k: name });
  for (const name of namespaces) h.namespace(name, { a: 'yes', b: 'no' });
  h.start();
  await h.settle();
  return h;
}
