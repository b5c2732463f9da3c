// What Reeve reports about a share.
import { object } from '../schema/build.ts';
import { statusFields } from '../status-fields.ts';
import { sharedColumns, suspendedColumn, type PrintColumn } from '../print-columns.ts';

export const shareStatus = object({
  description: 'What Reeve reports about the share; written by Reeve alone.',
  fields: statusFields({
    provider: 'share',
    where: 'target namespaces',
    conditionTypes: 'Ready, SourceAvailable, Reconciling or Stalled',
    conditionMeanings:
      'Ready: all that is desired is there. SourceAvailable: the source is there and can be copied; while it is not, copies stay as they are. Reconciling: work is under way. Stalled: somebody must act first; its reason says why.',
  }),
});

const { desired, synced, conflicts, failed, ready, reason, age } = sharedColumns;

export const secretShareColumns: readonly PrintColumn[] = [
  {
    // A column shows one value, so the namespace, which is nearly always the same one, has one of its own.
    name: 'Source',
    type: 'string',
    jsonPath: '.spec.source.name',
    description: 'The name of the Secret that is shared.',
  },
  {
    name: 'Source-Namespace',
    type: 'string',
    jsonPath: '.spec.source.namespace',
    description: 'The namespace of that Secret.',
    priority: 1,
  },
  { ...desired, description: 'How many copies it wants.' },
  synced,
  conflicts,
  failed,
  suspendedColumn('copies'),
  ready,
  reason,
  age,
];
