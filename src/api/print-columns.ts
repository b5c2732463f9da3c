// What `kubectl get` prints of our kinds: the columns that they share.

export interface PrintColumn {
  readonly name: string;
  readonly type: 'integer' | 'string' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Columns above 0 are shown with `-o wide` only. */
  readonly priority?: number;
}

export const sharedColumns = {
  desired: {
    name: 'Desired',
    type: 'integer',
    jsonPath: '.status.desired',
    description: 'How many objects it wants in them.',
  },
  synced: {
    name: 'Synced',
    type: 'integer',
    jsonPath: '.status.synced',
    description: 'How many of those are there and as they should be.',
  },
  conflicts: {
    name: 'Conflicts',
    type: 'integer',
    jsonPath: '.status.conflicts',
    description: 'How many of those have the name of an object that somebody else owns.',
  },
  failed: {
    name: 'Failed',
    type: 'integer',
    jsonPath: '.status.failed',
    description: 'How many of those could not be made or changed.',
    priority: 1,
  },
  ready: {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether all that is desired is there.',
  },
  reason: {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why it is ready, or not.',
    priority: 1,
  },
  age: {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: 'When it was created.',
  },
} as const satisfies Record<string, PrintColumn>;

export function suspendedColumn(provided: 'contents' | 'copies'): PrintColumn {
  return {
    name: 'Suspended',
    type: 'boolean',
    jsonPath: '.spec.suspend',
    description: `Whether the ${provided} are left as they are.`,
    priority: 1,
  };
}
