// Writes SecretShares and policies for sets of namespaces, and reports the parts of an older tool that they leave out.
import { systemNamespaces } from '../schema/names.ts';
import { uncopiedTypes } from '../api/secret-share/target.ts';
import { isJsonObject } from '../base/json.ts';
import { type KubeObject, nameOf } from '../base/metadata.ts';
import type { ImportRun } from './import-run.ts';
import { filled, inParts, Reader } from './reader.ts';
import type { MatchTerms } from '../policy/terms/match.ts';
import { everywhere, isIn, matchOfReach, type NamespaceReach } from './reach.ts';

/** Lists of names and of RoleBindings have at most this many items. */
const [maxNames, maxBindings] = [100, 50];

interface Wish {
  readonly from: Reader;
  /** The name of the shares or policies. */
  readonly name: string;
  /** Reaches are joined by "or", so each reach takes one share or policy. */
  readonly reaches: readonly NamespaceReach[];
  /** Fields that all providers have, such as deletionPolicy. */
  readonly common?: object;
}

export interface ShareWish extends Wish {
  readonly source: {
    readonly namespace: string;
    readonly name: string;
    /** For data in an object of the tool itself. */
    readonly inline?: { readonly keys: readonly string[]; readonly type: string };
  };
  readonly target: { readonly name: string; readonly [field: string]: unknown };
}

/** Shares of one source and target do not conflict. */
export function provideShares(run: ImportRun, wish: ShareWish): void {
  const { from, name, source, target, common } = wish;
  const stored = source.inline === undefined ? run.source(source.namespace, source.name) : undefined;
  const type = source.inline?.type ?? new Reader(stored).at('type').text() ?? 'Opaque';
  if (uncopiedTypes.includes(type)) {
    from.lose(`Secrets of type ${type} are never copied`);
    return;
  }
  const moved = sharedSource(run, wish, stored, type);
  const { name: copyName, ...look } = target;
  const isElsewhere = source.inline === undefined && moved.namespace !== source.namespace;
  const reaches =
    isElsewhere && copyName === source.name
      ? wish.reaches.map((reach) => without(reach, source.namespace))
      : wish.reaches;
  const written = filled({ target: copyName === moved.name ? look : target });
  for (const targets of targetsOf(run, from, reaches))
    run.provide('SecretShare', name, { source: moved, targets, ...written, ...common }, [from]);
}

/** One share covers several reaches, unless they are too many. */
function targetsOf(run: ImportRun, from: Reader, reaches: readonly NamespaceReach[]): readonly MatchTerms[] {
  const all = possibleReaches(run, from, reaches).flatMap((reach) => forShare(run, from, reach));
  return inParts(all, maxAlternatives).flatMap(([first, ...more]): readonly MatchTerms[] => {
    if (first === undefined) return [];
    return more.length === 0 ? [first] : [{ anyOf: [first, ...more] }];
  });
}

/** The limit of `targets.anyOf`. */
const maxAlternatives = 20;

/** Shares copy from shared namespaces only. A person creates the Secret there, because the import prints no values. */
function sharedSource(
  run: ImportRun,
  { from: { from }, source: { namespace, name, inline } }: ShareWish,
  stored: KubeObject | undefined,
  type: string,
): Pick<ShareWish['source'], 'namespace' | 'name'> {
  if (inline === undefined && run.options.sharedNamespaces.includes(namespace)) return { namespace, name };
  const secret = { apiVersion: 'v1', kind: 'Secret', namespace, name };
  const keys = inline?.keys ?? secretKeys(stored) ?? [];
  const moved = run.movedSecret({ from: inline === undefined ? secret : from.object, type, keys });
  return { namespace: moved.namespace, name: moved.name };
}

/** Returns undefined if the input lacks the data of the Secret. */
export function secretKeys(stored: KubeObject | undefined): readonly string[] | undefined {
  const data = stored?.['data'];
  return isJsonObject(data) ? Object.keys(data) : undefined;
}

/** Excludes the namespace of the source, where a copy of the same name would be a conflict. */
export function without(reach: NamespaceReach, namespace: string): NamespaceReach {
  const { excludeNames = [], names } = reach;
  if (names?.every((each) => !each.includes('*') && each !== namespace) === true) return reach;
  return { ...reach, excludeNames: [...new Set([...excludeNames, namespace])] };
}

/** Names the namespaces of today for a reach with conditions, because a share has no conditions. */
function forShare(run: ImportRun, from: Reader, reach: NamespaceReach): readonly NamespaceReach[] {
  const isOpen = reach.names === undefined && reach.namespaceSelector === undefined;
  if (reach.matchConditions === undefined) return [isOpen ? { ...everywhere, ...reach } : reach];
  from.limit(
    'a share has no conditions on names, so new namespaces are not covered',
    'give these namespaces a label and select it',
  );
  const names = namesToday(run, (namespace) => isIn(reach, namespace));
  return names.length === 0 ? [] : inShortLists({ names });
}

interface PolicyWish extends Wish {
  readonly spec: {
    readonly contents?: { readonly roleBindings?: readonly unknown[] };
    readonly [field: string]: unknown;
  };
}

/**
 * Writes a policy for each reach, and for each part of a long list of RoleBindings. Other fields are in the first policy.
 * Returns the names of the policies.
 */
export function providePolicies(
  run: ImportRun,
  { from, name, reaches, spec, common }: PolicyWish,
): readonly string[] {
  const [first = [], ...more] = inParts(spec.contents?.roleBindings ?? [], maxBindings);
  const whole = first.length === 0 ? spec : { ...spec, contents: { ...spec.contents, roleBindings: first } };
  const parts = [whole, ...more.map((bindings) => ({ contents: { roleBindings: bindings } }))];
  return possibleReaches(run, from, reaches).flatMap((reach) =>
    parts.flatMap(
      (part) =>
        run.provide('NamespacePolicy', name, { ...matchOfReach(reach), ...part, ...common }, [from]) ?? [],
    ),
  );
}

/** Reports the reaches that are left out. */
function possibleReaches(
  run: ImportRun,
  from: Reader,
  reaches: readonly NamespaceReach[],
): readonly NamespaceReach[] {
  limitToOthers(run, from, reaches);
  const possible = reaches.flatMap(({ names, ...others }) => {
    if (names === undefined) return [others];
    const left = names.filter((name) => !systemNamespaces.includes(name));
    return names.length === 0 || left.length === 0 ? [] : inShortLists({ names: left, ...others });
  });
  if (possible.length === 0) from.limit('no namespace matches, so there is nothing to provide');
  return possible;
}

/** Returns the same namespaces in lists that are short enough. */
function inShortLists({ names = [], ...others }: NamespaceReach): readonly NamespaceReach[] {
  return inParts(names, maxNames).map((part) => ({ names: part, ...others }));
}

/** Excludes the namespaces of Kubernetes and reports this, because the work of the tool ends there. */
export function limitToOthers(
  run: ImportRun,
  from: Reader,
  reaches: readonly NamespaceReach[],
  leftAlone: readonly string[] = systemNamespaces,
): void {
  const found = reached(run, reaches, leftAlone);
  if (found.length > 0)
    from.limit(`Reeve leaves the namespaces of Kubernetes alone: nothing is kept in ${found.join(', ')}`);
}

/** Returns the names of the namespaces that one of the reaches contains. */
export function reached(
  run: ImportRun,
  reaches: readonly NamespaceReach[],
  names: readonly string[],
): readonly string[] {
  return names.filter((name) => reaches.some((reach) => isIn(reach, run.namespace(name))));
}

export function namesToday(run: ImportRun, isWanted: (namespace: KubeObject) => boolean): readonly string[] {
  return run.namespaces
    .filter((namespace) => !systemNamespaces.includes(nameOf(namespace)) && isWanted(namespace))
    .map(nameOf)
    .toSorted();
}
