// Counts a plan, puts it in order, and narrows it to what the files change and to some namespaces and providers.
import type {
  PlanChange,
  PlannedNamespace,
  PlannedViolation,
  PlanOutput,
  PolicyViolations,
} from '../output-schemas/plan-output.ts';
import { isNamespaceName, isSubdomain } from '../../base/kubernetes-names.ts';
import { apiVersion } from '../../schema/names.ts';
import { type ObjectRef, type KubeObject, nameOf } from '../../base/metadata.ts';
import type { ObjectType } from '../../base/object-type.ts';
import { providerRef, providerId, providerKinds } from '../../policy/terms/provider-id.ts';
import { intentWords, providerNamed } from '../input/object-names.ts';
import { nearestWord } from '../../base/nearest.ts';
import type { ClusterState } from '../input/cluster-state.ts';
import { namespaceType } from '../input/loaded-state.ts';

/** The actions that write. */
const writes = ['create', 'update', 're-create', 'delete', 'release', 'label set'] as const;

/** In the order of the text output. */
const actions: readonly PlanChange['action'][] = [
  ...writes,
  'conflict',
  'blocked',
  'held',
  'kept',
  'skipped',
  'unknown',
  'refused',
  'refused-if-recreated',
];

export function isWritten({ action }: Pick<PlanChange, 'action'>): boolean {
  return writes.some((each) => each === action);
}

/** Sorted by name. In a namespace, rows that write come first. */
export function orderedRows(rows: ReadonlyMap<string, readonly PlanChange[]>): readonly PlannedNamespace[] {
  return [...rows]
    .filter(([, changes]) => changes.length > 0)
    .sort(([a], [b]) => compareTexts(a, b))
    .map(([name, changes]) => ({ name, changes: changes.toSorted(byAction) }));
}

/** Sorts rows that write before the others. */
export function byAction(a: PlanChange, b: PlanChange): number {
  const order = actions.indexOf(a.action) - actions.indexOf(b.action);
  return order === 0 ? compareTexts(placeOf(a), placeOf(b)) : order;
}

function placeOf({ object, provider = '', message = '' }: PlanChange): string {
  return `${object?.kind ?? ''}/${object?.name ?? ''} ${provider} ${message}`;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Leaves out actions that do not occur. */
export function countsOf(namespaces: readonly PlannedNamespace[]): Readonly<Record<string, number>> {
  const changes = namespaces.flatMap((each) => each.changes);
  const counts = actions.map(
    (action) => [action, changes.filter((each) => each.action === action).length] as const,
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

type Known = Pick<PlanOutput, 'invalid' | 'violations' | 'namespaces'>;

/** Counts what the files do not change. An old violation counts only if its policy has no line of its own. */
export function knownIn({ invalid, violations, namespaces }: Known): PlanOutput['known'] {
  const rows = namespaces.flatMap(({ changes }) => changes.filter((change) => change.known === true));
  const violated = violations.filter(isKnownAlone).reduce((sum, { count }) => sum + count, 0);
  const broken = invalid.filter((each) => each.known === true).length;
  const changes = rows.filter(isWritten).length;
  return { problems: rows.length - changes + violated + broken, changes };
}

/** True if the files change none of the policy's violations. */
function isKnownAlone({ count, known, ended, unjudged }: PolicyViolations): boolean {
  return count === known && ended === 0 && unjudged.length === 0;
}

/** Leaves out the rows, problems and violations that the files do not change. */
export function withoutKnown(plan: PlanOutput): PlanOutput {
  return keeping(plan, {
    invalid: plan.invalid.filter(({ known }) => known !== true),
    violations: plan.violations.filter((each) => !isKnownAlone(each)),
    namespaces: withChanges(plan.namespaces, ({ known }) => known !== true),
  });
}

/** Narrows a plan whose deletions the fuse has already counted. Keeps the providers of the remaining rows. */
export function narrowed(plan: PlanOutput, { namespaces, providers }: PlanScope): PlanOutput {
  if (namespaces.size + providers.size === 0) return plan;
  const kept = inScope(plan.namespaces, { namespaces, providers });
  const involved = new Set(kept.flatMap(({ changes }) => changes.map(({ provider }) => provider)));
  const shown = providers.size === 0 ? involved : providers;
  const known = {
    invalid: plan.invalid.filter(({ id }) => providers.size === 0 || providers.has(id)),
    violations: plan.violations.filter(
      ({ policy, new: found }) =>
        shown.has(policy) ||
        (providers.size === 0 && found.some(({ object }) => namespaces.has(placeOfObject(object)))),
    ),
    namespaces: kept,
  };
  return {
    ...keeping(plan, known),
    known: knownIn(known),
    providers: plan.providers.filter(({ id }) => shown.has(id)),
  };
}

export function inScope(
  all: readonly PlannedNamespace[],
  { namespaces, providers }: PlanScope,
): readonly PlannedNamespace[] {
  const named = all.filter(({ name }) => namespaces.size === 0 || namespaces.has(name));
  return withChanges(named, ({ provider = '' }) => providers.size === 0 || providers.has(provider));
}

function withChanges(
  namespaces: readonly PlannedNamespace[],
  isKept: (change: PlanChange) => boolean,
): readonly PlannedNamespace[] {
  return namespaces
    .map(({ name, changes }) => ({ name, changes: changes.filter(isKept) }))
    .filter(({ changes }) => changes.length > 0);
}

/** A Namespace counts as its own place, so that a scope with its name includes it. */
function placeOfObject({ namespace, name }: PlannedViolation['object']): string {
  return namespace ?? name;
}

function keeping(plan: PlanOutput, kept: Known): PlanOutput {
  return { ...plan, ...kept, counts: countsOf(kept.namespaces) };
}

/** Returns whether applying the files would change anything: the providers, or objects in namespaces. */
export function changesAnything({ providers, namespaces }: PlanOutput): boolean {
  return (
    providers.some(({ change, refused }) => change !== 'unchanged' && refused === undefined) ||
    namespaces.some(({ changes }) => changes.some(isWritten))
  );
}

export function isRefused({ providers, namespaces }: PlanOutput): boolean {
  return (
    providers.some(({ refused }) => refused !== undefined) ||
    namespaces.some(({ changes }) => changes.some(({ action }) => action === 'refused'))
  );
}

/** Counts deletions. A re-creation deletes, too, and a held deletion follows the confirmation. */
export function deletionsIn({ counts }: PlanOutput): { readonly all: number; readonly held: number } {
  const { delete: deleted = 0, 're-create': recreated = 0, held = 0 } = counts;
  return { all: deleted + recreated + held, held };
}

// Reads the names of --only and --delete: namespaces, providers and intents.

interface PlanScope {
  /** Names of namespaces. Empty: all. */
  readonly namespaces: ReadonlySet<string>;
  /** Ids of providers. Empty: all. */
  readonly providers: ReadonlySet<string>;
}

/** Returns the problem if a name cannot be read. */
export function planScopeOf(only: readonly string[]): PlanScope | string {
  const namespaces = new Set<string>();
  const providers = new Set<string>();
  for (const text of only) {
    const [, namespace] = /^(?:ns|namespace|namespaces)\/(.+)$/.exec(text) ?? [];
    if (namespace !== undefined && isNamespaceName(namespace)) namespaces.add(namespace);
    else {
      const provider = providerNamed(text, undefined);
      if (!provider.ok) return `--only: ${provider.problem}; a namespace is ns/NAME`;
      providers.add(provider.id);
    }
  }
  return { namespaces, providers };
}

/** Returns the problem if a name cannot be read. */
export function deletedRefs(names: readonly string[]): readonly ObjectRef[] | string {
  const refs: ObjectRef[] = [];
  for (const text of names) {
    const [word = '', name = '', ...rest] = text.split('/');
    const provider = providerNamed(text, undefined);
    if (intentWords.has(word.toLowerCase()) && isSubdomain(name) && rest.length === 0)
      refs.push({ apiVersion, kind: 'SecurityIntent', name });
    else if (provider.ok) refs.push(providerRef(provider.id));
    else return `--delete: ${provider.problem}`;
  }
  return refs;
}

// Finds a name of --only or --delete that neither the state nor the files have. Otherwise, a misspelled name would look like a
// plan without changes.

export function missingOf(
  { namespaces, providers }: PlanScope,
  base: ClusterState,
  files: readonly KubeObject[],
): string | undefined {
  const found = ({ apiVersion: version, kind: type }: ObjectType) => [
    ...base.objects({ apiVersion: version, kind: type }),
    ...files.filter((object) => object.apiVersion === version && object.kind === type),
  ];
  const isUnread = (id: string) => base.unread.some(({ kind }) => id.startsWith(`${kind}/`));
  return (
    missing('--only', 'namespace ', namespaces, () => found(namespaceType).map(nameOf)) ??
    // A provider of a kind that could not be read may exist.
    missing('--only', '', new Set([...providers].filter((id) => !isUnread(id))), () =>
      providerKinds.flatMap((kind) =>
        found({ apiVersion, kind }).map((each) => providerId(kind, nameOf(each), each.metadata.namespace)),
      ),
    )
  );
}

interface NotStored {
  readonly problem: string;
  /** True if the object may exist. */
  readonly isUnread: boolean;
}

/** Returns the stored objects with these names, or the problem. */
export function storedObjects(
  refs: readonly ObjectRef[],
  base: ClusterState,
): readonly KubeObject[] | NotStored {
  const found: KubeObject[] = [];
  for (const ref of refs) {
    const { namespace = '', name } = ref;
    const stored = base.find(ref, namespace, name);
    if (stored === undefined) {
      const unread = base.unread.find(({ kind }) => kind === ref.kind);
      if (unread !== undefined)
        return { problem: `--delete: ${unread.kind} could not be read: ${unread.reason}`, isUnread: true };
      const known = () =>
        base.objects(ref).map((each) => textOf(ref.kind, nameOf(each), each.metadata.namespace));
      const problem = missing('--delete', '', new Set([textOf(ref.kind, name, ref.namespace)]), known) ?? '';
      return { problem, isUnread: false };
    }
    found.push(stored);
  }
  return found;
}

function textOf(kind: string, name: string, namespace: string | undefined): string {
  return [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/');
}

function missing(
  flag: string,
  word: string,
  named: ReadonlySet<string>,
  all: () => readonly string[],
): string | undefined {
  if (named.size === 0) return undefined;
  const known = new Set(all());
  const unknown = [...named].find((name) => !known.has(name));
  if (unknown === undefined) return undefined;
  const near = nearestWord(unknown, known);
  return `${flag}: there is no ${word}${unknown}${near === undefined ? '' : `; did you mean ${near}?`}`;
}
