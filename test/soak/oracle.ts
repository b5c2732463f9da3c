// Computes the wanted state of the cluster from the stored objects alone, independently of Reeve's code.
import { isDeepStrictEqual } from 'node:util';
import type { Inventory, Stored } from './stored.ts';
import { wishesFor, type Wish } from './wishes.ts';

interface Tally {
  matched: number;
  desired: number;
  synced: number;
  conflicts: number;
}

const bodyFields = ['data', 'type', 'immutable', 'roleRef', 'subjects', 'stringData', 'binaryData'] as const;

/** Returns each deviation in words. Empty when the cluster is as wanted. */
export function deviations(inventory: Inventory): readonly string[] {
  const tallies = new Map<string, Tally>();
  const found = Map.groupBy(inventory.found, ({ metadata }) => metadata.namespace ?? '');
  const faults = inventory.namespaces.flatMap((namespace) =>
    inNamespace(namespace, found.get(namespace.metadata.name) ?? [], inventory, tallies),
  );
  return [
    ...faults,
    ...inventory.policies.flatMap((policy) => statusFaults('NamespacePolicy', policy, tallies)),
    ...inventory.shares.flatMap((share) => statusFaults('SecretShare', share, tallies)),
  ];
}

function inNamespace(
  namespace: Stored,
  found: Inventory['found'],
  inventory: Inventory,
  tallies: Map<string, Tally>,
): readonly string[] {
  const { name, deletionTimestamp } = namespace.metadata;
  if (deletionTimestamp !== undefined) return [`${name} is still being deleted`];
  const { wishes, matching } = wishesFor(namespace, inventory);
  for (const owner of matching) tallyOf(tallies, owner).matched += 1;
  const winners = new Map<string, Wish>();
  let conflicts = 0;
  for (const wish of wishes) {
    const key = `${wish.kind} ${wish.name}`;
    const tally = tallyOf(tallies, wish.owner);
    tally.desired += 1;
    const winner = winners.get(key) ?? wish;
    winners.set(key, winner);
    if (isSameWish(winner, wish)) tally.synced += 1;
    else {
      tally.conflicts += 1;
      conflicts += 1;
    }
  }
  const present = new Map(found.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
  const faults = [
    ...[...winners].flatMap(([key, wish]) => objectFaults(key, wish, present.get(key))),
    ...[...present.keys()]
      .filter((key) => !winners.has(key))
      .map((key) => `${key} exists without a provider`),
    ...conditionFaults(namespace, winners.size, conflicts),
  ];
  return faults.map((fault) => `${name}: ${fault}`);
}

/** One object satisfies both, apart from the marks of its owner. */
function isSameWish(
  { owner: _a, labels, ...one }: Wish,
  { owner: _b, labels: others, ...other }: Wish,
): boolean {
  return isDeepStrictEqual([one, unnamed(labels)], [other, unnamed(others)]);
}

function unnamed(labels: Wish['labels']): Wish['labels'] {
  const names = ['reeve.dev/namespacepolicy', 'reeve.dev/secretshare'];
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !names.includes(key)));
}

/** Describes the deviations of an object without any value that may be secret. */
function objectFaults(key: string, wish: Wish, found: Stored | undefined): readonly string[] {
  if (found === undefined) return [`${key} of ${wish.owner} is missing`];
  const { labels, annotations = {}, finalizers, ownerReferences } = found.metadata;
  const faults = bodyFields.filter(
    (field) => !isDeepStrictEqual((found as unknown as Wish['body'])[field], wish.body[field]),
  );
  const { 'reeve.dev/owner': owner, 'reeve.dev/applied': _applied, ...more } = annotations;
  return [
    ...faults.map((field) => `the ${field} of ${key} is not that of ${wish.owner}`),
    ...(isDeepStrictEqual(labels, wish.labels)
      ? []
      : [`the labels of ${key} are not those of ${wish.owner}`]),
    ...(owner === wish.owner ? [] : [`${key} is kept for ${owner}, not for ${wish.owner}`]),
    ...(Object.keys(more).length === 0 ? [] : [`${key} has annotations: ${Object.keys(more).join(', ')}`]),
    ...(finalizers === undefined && ownerReferences === undefined ? [] : [`somebody has tied up ${key}`]),
  ];
}

interface Status {
  readonly observedGeneration?: number;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
  }[];
}

function conditionFaults({ status }: Stored, provided: number, conflicts: number): readonly string[] {
  const satisfied = provided === 0 ? 'True NothingProvided' : 'True Synced';
  const wanted = conflicts === 0 ? satisfied : 'False ProvidedByAnother';
  const is = conditionIn(status, 'reeve.dev/Ready');
  return is === wanted ? [] : [`its condition is ${is}, not ${wanted}`];
}

function statusFaults(
  kind: string,
  { metadata, status }: Stored,
  tallies: Map<string, Tally>,
): readonly string[] {
  const owner = `${kind}/${metadata.name}`;
  if (metadata.deletionTimestamp !== undefined) return [`${owner} is still being deleted`];
  const tally = tallyOf(tallies, owner);
  const { matched, ...shared } = tally;
  const wanted = {
    ...(kind === 'NamespacePolicy' ? { matched } : {}),
    ...shared,
    failed: 0,
    observedGeneration: metadata.generation,
    ready: tally.conflicts === 0 ? 'True Synced' : 'False Conflicts',
  };
  const is: Readonly<Record<string, unknown>> = {
    ...(status as Readonly<Record<string, unknown>> | undefined),
    ready: conditionIn(status, 'Ready'),
  };
  return Object.entries(wanted)
    .filter(([field, value]) => is[field] !== value)
    .map(([field, value]) => `${owner}: ${field} is ${String(is[field])}, not ${value}`);
}

function conditionIn(status: unknown, type: string): string {
  const found = (status as Status | undefined)?.conditions?.find((each) => each.type === type);
  return found === undefined ? 'not there' : `${found.status} ${found.reason}`;
}

function tallyOf(tallies: Map<string, Tally>, owner: string): Tally {
  const tally = tallies.get(owner) ?? { matched: 0, desired: 0, synced: 0, conflicts: 0 };
  tallies.set(owner, tally);
  return tally;
}
