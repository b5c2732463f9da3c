// Writes for people what a confirmation would let Reeve delete.
import { clipped, counted } from '../../base/text.ts';
import type { ConfirmationOutput, ConfirmedRemoval } from '../output-schemas/confirmation.ts';

const shownObjects = 20;

export function confirmationText(output: ConfirmationOutput, isWhole: boolean): string {
  const { objects } = output;
  const shown = (isWhole ? objects : objects.slice(0, shownObjects)).map(cellsOf);
  const widths = [0, 1].map((column) => Math.max(0, ...shown.map((cells) => cells[column]?.length ?? 0)));
  const more = objects.length - shown.length;
  return [
    headline(output),
    ...shown.map((cells) =>
      `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
    ),
    ...(more === 0 ? [] : [`  and ${more} more (--all lists them)`]),
    '',
  ].join('\n');
}

function headline(output: ConfirmationOutput): string {
  const { provider, objects, forDeletion, maxDeletions, outcome } = output;
  const { reason = '', annotation = '', recent = 0 } = output;
  if (outcome === 'nothing to delete') return `${provider}: nothing would be deleted: ${reason}`;
  const namespaces = counted(new Set(objects.map(({ object }) => object.namespace)).size, 'namespace');
  const isAnyReleased = objects.some(({ action }) => action === 'release');
  const [removes, removed] = isAnyReleased
    ? ['delete or give back', 'deleted or given back']
    : ['delete', 'deleted'];
  const [when, verb] = forDeletion ? [`its deletion would ${removes} `, ''] : ['', ` would be ${removed}`];
  const what = `${provider}: ${when}${counted(objects.length, 'object')} in ${namespaces}${verb}`;
  if (outcome === 'not needed')
    return `${what}; maxDeletions is ${maxDeletions}, so no confirmation is needed`;
  const earlier = recent === 0 ? '' : `, after ${recent} in the ten minutes before`;
  const limit = `${what}${earlier}, and maxDeletions is ${maxDeletions}`;
  if (outcome === 'confirmed before') return `${limit}; the annotation allows ${Number(annotation)} already`;
  // The webhook does not see the objects, so it may count more than there are.
  return Number(annotation) > objects.length
    ? `${limit}; the webhook counts ${Number(annotation)}, so that is the number to confirm`
    : limit;
}

function cellsOf({ action, object }: ConfirmedRemoval): readonly string[] {
  const { namespace = '', kind, name } = object;
  const note = action === 'release' ? 'is given back: another client created it' : '';
  return [clipped(namespace), clipped(`${kind}/${name}`, 300), note];
}
