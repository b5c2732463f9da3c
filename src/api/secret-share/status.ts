// The status of a share, and the columns that `kubectl get sshare` prints.
import { object } from '../../schema/build.ts';
import { statusFields } from '../status-fields.ts';
import { sharedColumns, suspendedColumn, type PrintColumn } from '../print-columns.ts';

export const shareStatus = object({
  description: 'What Reeve reports about the share; written by Reeve alone.',
  fields: statusFields({
    provider: 'share',
    where: 'target namespaces',
    conditionTypes: 'Ready, SourceAvailable, Reconciling or Stalled',
    conditionMeanings:
      'Ready: all copies exist and match. SourceAvailable: the source exists and can be copied; while it is not available, copies stay as they are. Reconciling: Reeve is working on the copies. Stalled: Reeve cannot continue until a person acts; the reason says why.',
  }),
});

const { desired, synced, conflicts, failed, ready, reason, age } = sharedColumns;

export const secretShareColumns: readonly PrintColumn[] = [
  {
    // A column shows one value. The namespace is nearly always the same one, so its column is wide only.
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
  { ...desired, description: 'How many copies the share wants.' },
  synced,
  conflicts,
  failed,
  suspendedColumn('copies'),
  ready,
  reason,
  age,
];
