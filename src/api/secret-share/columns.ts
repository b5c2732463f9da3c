// What `kubectl get sshare` prints.
import { sharedColumns, suspendedColumn, type PrintColumn } from '../print-columns.ts';

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
