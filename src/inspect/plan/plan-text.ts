// Writes a plan for people: counts, then the objects that would be applied, then the namespaces. Equal namespaces are written
// once.
import { unreadText } from '../input/cluster-state.ts';
import { clipped } from '../../base/text.ts';
import { byAction } from './plan-summary.ts';
import type {
  PlanChange,
  PlanDifference,
  PlannedNamespace,
  PlannedProvider,
  PlanOutput,
  PolicyViolations,
} from '../output-schemas/plan-output.ts';

/** How added, removed and important texts are printed. */
interface PlanPaint {
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
}

interface PlanTextOptions {
  readonly paint: PlanPaint;
  /** True to write each namespace by itself. */
  readonly isWhole: boolean;
}

/** The most fields that the text shows of one object. JSON has all of them. */
const maxDifferences = 100;
const maxLine = 2000;
const shownNames = 3;

export function textOfPlan(plan: PlanOutput, { paint, isWhole }: PlanTextOptions): string {
  const lines = [
    `${subjectText(plan)}, ${namespacesText(plan)}`,
    `  ${countsText(plan)}`,
    ...knownLines(plan, isWhole).map((line) => `  ${paint.faint(line)}`),
    ...(plan.complete ? [] : [`  ${paint.strong(unreadText(plan.unread))}`]),
    ...providersOf(plan).flatMap((each) => ['', ...providerLines(each, { paint, isWhole })]),
    ...plan.invalid.flatMap(({ id, message }) => [
      '',
      `${paint.strong(clipped(id, 400))}  ${paint.removed('does not load')}, so its objects stay as they are`,
      `  ${clipped(message, maxLine)}`,
    ]),
    ...namespaceLines(plan.namespaces, { paint, isWhole }),
  ];
  return `${lines.join('\n')}\n`;
}

export function namespaceLines(
  namespaces: readonly PlannedNamespace[],
  { paint, isWhole }: PlanTextOptions,
): readonly string[] {
  const groups = isWhole
    ? namespaces.map(({ name, changes }) => ({ names: [name], changes }))
    : groupsOf(namespaces);
  return groups.flatMap((each) => ['', ...groupLines(each, paint)]);
}

export function subjectText({ documents, deletions, state, origin }: PlanOutput): string {
  const parts = [
    ...(documents === 0 && deletions > 0 ? [] : [amountText(documents, 'document')]),
    ...(deletions === 0 ? [] : [amountText(deletions, 'deletion')]),
  ];
  return `Plan of ${parts.join(' and ')} on ${state === 'files' ? 'a state in files' : clipped(origin, 200)}`;
}

export function namespacesText({ planned, leftOut }: PlanOutput): string {
  const count = planned === 1 ? '1 namespace' : `${planned} namespaces`;
  return leftOut === 0 ? count : `${count} (${leftOut} left out: excluded or being deleted)`;
}

const plurals: Readonly<Record<string, string>> = {
  'label set': 'labels set',
  conflict: 'conflicts',
  'refused-if-recreated': 'refused if re-created',
};

export function countsText({ counts }: Pick<PlanOutput, 'counts'>): string {
  const texts = Object.entries(counts).map(([action, count]) =>
    count === 1 ? `1 ${wordOf(action)}` : `${count} ${plurals[action] ?? action}`,
  );
  return texts.length === 0 ? 'nothing to change' : texts.join(', ');
}

/** Returns `update?` if only the API server knows whether the update is needed. */
export function actionText({ action, certain }: Pick<PlanChange, 'action' | 'certain'>): string {
  return `${wordOf(action)}${certain ? '' : '?'}`;
}

function wordOf(action: string): string {
  return action === 'refused-if-recreated' ? 'refused if re-created' : action;
}

function isWorthALine({ change, warnings, refused, violations }: ShownProvider): boolean {
  return change !== 'unchanged' || warnings.length > 0 || (refused ?? violations) !== undefined;
}

export interface ShownProvider extends Omit<PlannedProvider, 'change'> {
  readonly change?: PlannedProvider['change'];
  readonly violations: PolicyViolations | undefined;
}

/** Returns the providers that would be applied, and the unchanged policies whose violations change. */
export function providersOf({ providers, violations }: PlanOutput): readonly ShownProvider[] {
  const byPolicy = new Map(violations.map((each) => [each.policy, each]));
  const ids = new Set(providers.map(({ id }) => id));
  return [
    ...providers.map((each) => ({ ...each, violations: byPolicy.get(each.id) })),
    ...violations
      .filter(({ policy }) => !ids.has(policy))
      .map((each) => ({ id: each.policy, warnings: [], violations: each })),
  ].filter(isWorthALine);
}

/** Example: `62 known problems and 1 known change, unchanged`. */
export function knownLines(
  { known: { problems, changes } }: PlanOutput,
  isWhole: boolean,
): readonly string[] {
  const parts = [amountText(problems, 'known problem'), amountText(changes, 'known change')].filter(
    (part) => !part.startsWith('0 '),
  );
  const how = isWhole ? '' : ' (--all shows them)';
  return parts.length === 0 ? [] : [`${parts.join(' and ')}, unchanged${how}`];
}

/** Example: `31 open violations: 9 of Namespaces, 22 of RoleBindings; 3 were there before`. */
export function violationsText({ count, known, ended, byKind, unjudged }: PolicyViolations): string {
  const kinds = Object.entries(byKind).map(([kind, each]) => `${each} of ${kind}s`);
  const before = known === count ? 'all were there before' : `${known} ${wereOf(known)} there before`;
  const unread = unjudged.map(({ kind, reason }) => `${clipped(kind)}s (${clipped(reason)})`);
  return [
    ...(count === 0 ? [] : [`${amountText(count, 'open violation')}: ${kinds.join(', ')}`]),
    ...(count === 0 || known === 0 ? [] : [before]),
    ...(ended === 0 ? [] : [`${amountText(ended, 'violation')} would end`]),
    ...(unread.length === 0 ? [] : [`not judged: ${unread.join(', ')}`]),
  ].join('; ');
}

function wereOf(count: number): string {
  return count === 1 ? 'was' : 'were';
}

function amountText(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** The most violations that the text shows. JSON has all of them. */
const maxViolations = 100;

export function violationLines({ new: found }: PolicyViolations): readonly string[] {
  const lines = found.slice(0, maxViolations).map(({ object: { kind, namespace, name }, message }) => {
    const place = namespace === undefined ? '' : ` in namespace ${clipped(namespace)}`;
    return `${kind}/${clipped(name)}${place}: ${clipped(message, maxLine)}`;
  });
  const more = found.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

function providerLines(
  { id, change, warnings, refused, violations }: ShownProvider,
  { paint, isWhole }: PlanTextOptions,
): readonly string[] {
  const refusal = refused?.split('\n').map((line) => clipped(line, maxLine)) ?? [];
  return [
    change === undefined ? paint.strong(id) : `${paint.strong(id)}  ${change}`,
    ...(violations === undefined ? [] : [`  ${violationsText(violations)}`]),
    ...(violations === undefined || !isWhole ? [] : violationLines(violations).map((line) => `    ${line}`)),
    ...(warnings.length === 0 ? [] : ['  the API server would warn:']),
    ...warnings.map((text) => `    ${text}`),
    ...refusal.map((line, index) =>
      index === 0 ? paint.removed(`  the API server would refuse it: ${line}`) : `    ${line}`,
    ),
    ...(refused === undefined ? [] : ['  so it is planned as it is stored']),
  ];
}

/** Changes that are the same in all of these namespaces. */
export interface NamespaceGroup {
  readonly names: readonly string[];
  readonly changes: readonly PlanChange[];
}

/** Joins namespaces with equal changes, the largest group first. The name of the namespace in a name makes no difference. */
export function groupsOf(namespaces: readonly PlannedNamespace[]): readonly NamespaceGroup[] {
  const equal = new Map<
    string,
    { readonly names: string[]; readonly own: PlanChange; readonly all: PlanChange }
  >();
  for (const { name, changes } of namespaces)
    for (const own of changes) {
      const all = general(own, name);
      const key = JSON.stringify(all);
      const known = equal.get(key);
      if (known === undefined) equal.set(key, { names: [name], own, all });
      else known.names.push(name);
    }
  const groups = [...Map.groupBy(equal.values(), ({ names }) => names.join(' ')).values()].map((rows) => {
    const { names = [] } = rows[0] ?? {};
    const changes = rows.map(({ own, all }) => (names.length === 1 ? own : all));
    return { names, changes: changes.toSorted(byAction) };
  });
  return groups.sort((a, b) => b.names.length - a.names.length);
}

function general({ object, ...change }: PlanChange, namespace: string): PlanChange {
  if (object === undefined) return change;
  const { apiVersion, kind, name } = object;
  return { ...change, object: { apiVersion, kind, name: name.split(namespace).join('<namespace>') } };
}

function groupLines({ names, changes }: NamespaceGroup, paint: PlanPaint): readonly string[] {
  const widths = {
    action: Math.max(...changes.map((each) => actionText(each).length)),
    object: Math.max(...changes.map((each) => rowObject(each).length)),
  };
  return [paint.strong(headingOf(names)), ...changes.flatMap((change) => changeLines(change, widths, paint))];
}

export function headingOf(names: readonly string[]): string {
  const listed = names.slice(0, shownNames).map((name) => clipped(name));
  if (names.length === 1) return `namespace ${listed.join('')}`;
  const more = names.length - listed.length;
  return `${names.length} namespaces: ${listed.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

const signs: Readonly<Record<PlanChange['action'], string>> = {
  create: '+',
  update: '~',
  're-create': '~',
  delete: '-',
  release: '-',
  'label set': '+',
  conflict: '!',
  blocked: '!',
  held: '!',
  kept: '!',
  skipped: '.',
  unknown: '?',
  refused: 'x',
  'refused-if-recreated': 'x',
};

function changeLines(
  change: PlanChange,
  widths: { readonly action: number; readonly object: number },
  paint: PlanPaint,
): readonly string[] {
  const { action, certain, provider = '', message, diff = [] } = change;
  const word = `${signs[action]} ${actionText(change).padEnd(widths.action)}`;
  const line = `  ${painted(action, paint)(word)}  ${rowObject(change).padEnd(widths.object)}  ${paint.faint(provider)}`;
  const details = [
    ...(certain ? [] : ['only the API server knows whether the stored form differs']),
    ...(message === undefined ? [] : message.split('\n')),
    ...(change.known === true ? ['known: the files change nothing about this'] : []),
  ];
  return [
    line.trimEnd(),
    ...details.map((text) => `      ${clipped(text, maxLine)}`),
    ...differenceLines(diff).map(({ sign, text }) =>
      (sign === '+' ? paint.added : sign === '-' ? paint.removed : paint.faint)(`    ${sign} ${text}`),
    ),
  ];
}

function painted(action: PlanChange['action'], paint: PlanPaint): (text: string) => string {
  if (signs[action] === '+') return paint.added;
  return ['-', 'x', '!'].includes(signs[action]) ? paint.removed : paint.strong;
}

export function rowObject({ object }: Pick<PlanChange, 'object'>): string {
  return object === undefined ? '' : clipped(`${object.kind}/${object.name}`, 300);
}

interface DifferenceLine {
  readonly sign: '+' | '-' | '~';
  readonly text: string;
}

/** A value that may not be shown gives one line, which says how it changes. */
export function differenceLines(diff: readonly PlanDifference[]): readonly DifferenceLine[] {
  const lines = diff.slice(0, maxDifferences).flatMap(linesOf);
  const more = diff.length - maxDifferences;
  return more > 0 ? [...lines, { sign: '~', text: `and ${more} more fields` }] : lines;
}

function linesOf({ path, change, before, after }: PlanDifference): readonly DifferenceLine[] {
  if (before === undefined && after === undefined) {
    const sign = { added: '+', removed: '-', changed: '~' } as const;
    return [{ sign: sign[change], text: `${path} (value not shown)` }];
  }
  return [
    ...(before === undefined ? [] : [{ sign: '-', text: `${path}: ${before}` } as const]),
    ...(after === undefined ? [] : [{ sign: '+', text: `${path}: ${after}` } as const]),
  ];
}
