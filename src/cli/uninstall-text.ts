// What `reeve uninstall` says before it begins, and at its end.
import { counted } from '../policy/terms/count-text.ts';
import { countOf, type ContentsPlan, type ProviderPlan } from '../uninstall/plan.ts';
import type { Outcome } from '../uninstall/uninstall.ts';

export interface Intent {
  /** Where the cluster is. */
  readonly description: string;
  /** That Reeve is installed in. */
  readonly namespace: string;
  readonly sharedNamespace: readonly string[];
  readonly deleteShared: boolean;
}

export function planText(plan: ContentsPlan, intent: Intent): string {
  const { description, namespace, sharedNamespace, deleteShared } = intent;
  const shared = sharedNamespace.join(', ');
  return [
    `Reeve will be removed from ${description}.`,
    ...plan.owners.map(providerText),
    `In all, ${counted(countOf(plan, 'delete'), 'object')} will be deleted, and ${counted(countOf(plan, 'release'), 'object')} will stay without the mark of Reeve.`,
    `Namespace ${namespace} will be deleted, with everything in it, if the install made it.`,
    ...(shared === ''
      ? []
      : [deleteShared ? `ALL SECRETS in ${shared} will be deleted.` : `The Secrets in ${shared} will stay.`]),
    '',
  ].join('\n');
}

function providerText({ owner, fate, reason, objects }: ProviderPlan): string {
  const namespaces = counted(new Set(objects.map(({ namespace }) => namespace)).size, 'namespace');
  const what = `${counted(objects.length, 'object')} in ${namespaces}`;
  return fate === 'delete'
    ? `  ${owner}: ${what} will be deleted`
    : `  ${owner}: ${what} will stay (${reason})`;
}

export function outcomeText({ problems, left, notes }: Outcome): string {
  const isClean = problems.length === 0 && left.length === 0;
  return [
    ...problems.map((problem) => `not done: ${problem}`),
    ...left.map((each) => `left: ${each}`),
    ...notes.map((note) => `note: ${note}`),
    isClean
      ? 'Reeve is gone, and nothing of it is left that could block anything.'
      : 'Reeve is not gone altogether: see above, and run this again.',
    '',
  ].join('\n');
}
