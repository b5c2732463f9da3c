// Counts a plan, puts it in order, and narrows it to what the files change and to some namespaces and providers.
import type {
  PlanChange,
  PlannedNamespace,
  PlannedViolation,
  PlanOutput,
  PolicyViolations,
} from '../output-schemas/plan-output.ts';
import type { PlanScope } from './plan-scope.ts';

/** What Reeve would write. */
const writes = ['create', 'update', 're-create', 'delete', 'release', 'label set'] as const;

/** As the text shows them. */
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

/** By name, and what would be written first. */
export function orderedRows(rows: ReadonlyMap<string, readonly PlanChange[]>): readonly PlannedNamespace[] {
  return [...rows]
    .filter(([, changes]) => changes.length > 0)
    .sort(([a], [b]) => compareTexts(a, b))
    .map(([name, changes]) => ({ name, changes: changes.toSorted(byAction) }));
}

/** What would be written comes first. */
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

/** Only actions that occur. */
export function countsOf(namespaces: readonly PlannedNamespace[]): Readonly<Record<string, number>> {
  const changes = namespaces.flatMap((each) => each.changes);
  const counts = actions.map(
    (action) => [action, changes.filter((each) => each.action === action).length] as const,
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

type Known = Pick<PlanOutput, 'invalid' | 'violations' | 'namespaces'>;

/** Counts what the files change nothing about. Violations that were there before count where the policy has no line of its own. */
export function knownIn({ invalid, violations, namespaces }: Known): PlanOutput['known'] {
  const rows = namespaces.flatMap(({ changes }) => changes.filter((change) => change.known === true));
  const violated = violations.filter(isKnownAlone).reduce((sum, { count }) => sum + count, 0);
  const broken = invalid.filter((each) => each.known === true).length;
  const changes = rows.filter(isWritten).length;
  return { problems: rows.length - changes + violated + broken, changes };
}

/** True if the files change nothing about the violations of the policy. */
function isKnownAlone({ count, known, ended, unjudged }: PolicyViolations): boolean {
  return count === known && ended === 0 && unjudged.length === 0;
}

/** Leaves out what the files change nothing about. */
export function withoutKnown(plan: PlanOutput): PlanOutput {
  return keeping(plan, {
    invalid: plan.invalid.filter(({ known }) => known !== true),
    violations: plan.violations.filter((each) => !isKnownAlone(each)),
    namespaces: withChanges(plan.namespaces, ({ known }) => known !== true),
  });
}

/** Narrows a plan after the deletion fuse has counted all of it. Keeps the providers of the rows that stay. */
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

/** A Namespace is in the scope that names it. */
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

/** A re-creation deletes, too, and a held deletion comes with the confirmation. */
export function deletionsIn({ counts }: PlanOutput): { readonly all: number; readonly held: number } {
  const { delete: deleted = 0, 're-create': recreated = 0, held = 0 } = counts;
  return { all: deleted + recreated + held, held };
}
