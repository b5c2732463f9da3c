// Writes a plan as the comment of a pull request: counts, warnings, and a table with the diffs below it.
import { clipped } from '../../base/text.ts';
import { unreadText } from '../input/cluster-state.ts';
import type { PlanChange, PlanOutput } from '../output-schemas/plan-output.ts';
import {
  actionText,
  countsText,
  differenceLines,
  groupsOf,
  headingOf,
  knownLines,
  namespacesText,
  providersOf,
  rowObject,
  subjectText,
  violationLines,
  violationsText,
  type NamespaceGroup,
  type ShownProvider,
} from './plan-text.ts';

/** A comment on GitHub takes 65,536 characters. */
const maxLength = 60_000;

export function planMarkdown(plan: PlanOutput, isWhole = false): string {
  const providers = [
    ...providersOf(plan).flatMap((each) => providerLines(each, isWhole)),
    ...plan.invalid.map(
      ({ id, message }) =>
        `- ${code(id)} **does not load**, so its objects stay as they are: ${escaped(message)}`,
    ),
  ];
  const head = [
    `### Reeve plan: ${countsText(plan)}`,
    '',
    `${escaped(subjectText(plan))}, ${namespacesText(plan)}.`,
    ...knownLines(plan, isWhole).flatMap((line) => ['', `${escaped(line)}.`]),
    ...(plan.complete ? [] : ['', `**${escaped(unreadText(plan.unread))}**`]),
    ...(providers.length === 0 ? [] : ['', ...providers]),
  ];
  const groups = groupsOf(plan.namespaces);
  let text = `${head.join('\n')}\n`;
  for (const [index, group] of groups.entries()) {
    const next = groupText(group);
    if (text.length + next.length > maxLength) return `${text}\n${restText(groups.slice(index))}\n`;
    text += next;
  }
  return text;
}

function providerLines(
  { id, change, warnings, refused, violations }: ShownProvider,
  isWhole: boolean,
): readonly string[] {
  return [
    change === undefined ? `- ${code(id)}` : `- ${code(id)}: ${change}`,
    ...(violations === undefined ? [] : [`  - ${escaped(violationsText(violations))}`]),
    ...(violations === undefined || !isWhole
      ? []
      : violationLines(violations).map((line) => `    - ${escaped(line)}`)),
    ...warnings.map((text) => `  - the API server would warn: ${escaped(text)}`),
    ...(refused === undefined
      ? []
      : [`  - **the API server would refuse it**, so it is planned as it is stored: ${escaped(refused)}`]),
  ];
}

function restText(groups: readonly NamespaceGroup[]): string {
  const changes = groups.reduce((sum, group) => sum + group.changes.length * group.names.length, 0);
  return `and ${changes} more changes, which do not fit into a comment: \`reeve plan\` shows them`;
}

function groupText({ names, changes }: NamespaceGroup): string {
  const diffs = changes.filter(({ diff = [] }) => diff.length > 0);
  return [
    '',
    `#### ${escaped(headingOf(names))}`,
    '',
    '| action | object | provider | note |',
    '|---|---|---|---|',
    ...changes.map(rowOf),
    ...diffs.flatMap(detailsOf),
    '',
  ].join('\n');
}

function rowOf(change: PlanChange): string {
  const { certain, provider, message = '', known } = change;
  const note = [
    ...(known === true ? ['known'] : []),
    ...(certain ? [message] : ['only the API server knows whether the stored form differs']),
  ]
    .filter((text) => text !== '')
    .join('; ');
  const object = rowObject(change);
  const cells = [
    actionText(change),
    object === '' ? '' : code(object),
    provider === undefined ? '' : code(provider),
    escaped(note),
  ];
  return `| ${cells.join(' | ')} |`;
}

function detailsOf(change: PlanChange): readonly string[] {
  const lines = differenceLines(change.diff ?? []).map(
    // A diff block of Markdown knows only the signs + and -.
    ({ sign, text }) => `${sign === '~' ? ' ' : sign} ${text}`,
  );
  return [
    '',
    `<details><summary>${htmlText(`${actionText(change)} ${rowObject(change)}`)}</summary>`,
    '',
    '````diff',
    ...lines,
    '````',
    '',
    '</details>',
  ];
}

/** Escapes characters that would end a cell, begin markup or mention a user. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|@#~]/g, (character) => `\\${character}`).replaceAll('\n', ' ');
}

const maxCode = 2000;

/** Only a backtick ends a code span. */
function code(text: string): string {
  return `\`${clipped(text, maxCode).replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

function htmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
