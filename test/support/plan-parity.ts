// Compares what `reeve plan` lists with the writes that a reconciler in memory then makes.
import type { KubeObject } from '../../src/base/metadata.ts';
import { findInstall } from '../../src/cli/input/find-install.ts';
import { clusterState, type ClusterState } from '../../src/inspect/input/cluster-state.ts';
import type { PlanOutput } from '../../src/inspect/output-schemas/plan-output.ts';
import { planCluster } from '../../src/inspect/plan/plan-cluster.ts';
import { isWritten } from '../../src/inspect/plan/plan-summary.ts';
import { heldByFinalizers } from '../../src/inspect/plan/step-rows.ts';
import type { MemoryCluster, Write } from './memory-cluster.ts';
import type { Harness } from './reconcile-harness.ts';

const kinds = [
  'Namespace',
  'NamespacePolicy',
  'SecretShare',
  'SecurityIntent',
  'ClusterSecurityIntentBinding',
  'SecurityIntentBinding',
  'Secret',
  'RoleBinding',
  'ResourceQuota',
  'LimitRange',
  'ServiceAccount',
];

/** The install is the one of the harness. */
export function memoryState(memory: MemoryCluster, allowedKinds: readonly string[]): ClusterState {
  const install = findInstall([], { resourceKind: allowedKinds });
  const facts = { origin: 'memory', isCluster: false, install, unread: [], isServed: () => true };
  return clusterState(
    { ...facts, hasManagers: false },
    kinds.flatMap((kind) => memory.list(kind)),
  );
}

export interface Parity {
  readonly plan: PlanOutput;
  /** One line for each object. */
  readonly planned: readonly string[];
  readonly written: readonly string[];
}

/** `h` is stopped. Objects that the plan calls refused are not applied, as the API server would not store them. */
export async function parity(
  h: Harness,
  files: readonly KubeObject[],
  allowedKinds: readonly string[],
): Promise<Parity> {
  const base = memoryState(h.memory, allowedKinds);
  const plan = await planCluster({ base, objects: files, now: h.clock.now() });
  const refused = new Set(plan.providers.flatMap(({ id, refused: why }) => (why === undefined ? [] : [id])));
  h.takeWrites();
  for (const object of files) if (!refused.has(idOf(object))) h.memory.put(object);
  h.start();
  await h.settle();
  await h.stop();
  return { plan, planned: plannedLines(plan), written: writtenLines(h.takeWrites()) };
}

function idOf({ kind = '', metadata: { namespace, name = '' } }: KubeObject): string {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

function plannedLines({ namespaces }: PlanOutput): readonly string[] {
  const lines = namespaces.flatMap(({ name, changes }) =>
    changes.filter(isWritten).map(({ action, object, message = '' }) => {
      const isHeld = action === 're-create' && message.endsWith(heldByFinalizers);
      const update = action === 'release' || action === 'label set' ? 'update' : action;
      const verb = isHeld ? 'delete' : update;
      return `${verb} ${object?.kind ?? ''} ${object?.kind === 'Namespace' ? '' : name}/${object?.name ?? ''}`;
    }),
  );
  return [...new Set(lines)].sort();
}

/** Without statuses, conditions and finalizers, which are reports and marks of Reeve. */
export function writtenLines(writes: readonly Write[]): readonly string[] {
  const real = writes.filter(
    ({ kind, subresource }) =>
      subresource === '' &&
      !['NamespacePolicy', 'SecretShare'].includes(kind) &&
      !kind.endsWith('IntentBinding'),
  );
  const byObject = Map.groupBy(real, ({ kind, namespace, name }) => `${kind} ${namespace}/${name}`);
  return [...byObject].map(([object, all]) => `${verbOf(all.map(({ verb }) => verb))} ${object}`).sort();
}

function verbOf(verbs: readonly string[]): string {
  if (verbs.includes('delete')) return verbs.includes('create') ? 're-create' : 'delete';
  return verbs.includes('create') ? 'create' : 'update';
}
