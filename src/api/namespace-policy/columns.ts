// What `kubectl get nspol` prints.
import { sharedColumns, suspendedColumn, type PrintColumn } from '../print-columns.ts';

const { desired, synced, conflicts, failed, ready, reason, age } = sharedColumns;

export const namespacePolicyColumns: readonly PrintColumn[] = [
  {
    name: 'Matched',
    type: 'integer',
    jsonPath: '.status.matched',
    description: 'How many namespaces the policy matches.',
  },
  desired,
  synced,
  { ...conflicts, priority: 1 },
  failed,
  {
    name: 'Violations',
    type: 'integer',
    jsonPath: '.status.violations',
    description: 'How many rules are broken by namespaces that are already there.',
  },
  {
    name: 'Actions',
    type: 'string',
    jsonPath: '.spec.validationActions',
    description: 'What happens when an object breaks a rule.',
    priority: 1,
  },
  suspendedColumn('contents'),
  ready,
  reason,
  age,
];
