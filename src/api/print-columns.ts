// Defines the columns of `kubectl get` that policies, shares and bindings have in common.

export interface PrintColumn {
  readonly name: string;
  readonly type: 'integer' | 'string' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Columns above 0 are shown with `-o wide` only. */
  readonly priority?: number;
}

export const sharedColumns = {
  matched: {
    name: 'Matched',
    type: 'integer',
    jsonPath: '.status.matched',
    description: 'How many namespaces it matches.',
  },
  desired: {
    name: 'Desired',
    type: 'integer',
    jsonPath: '.status.desired',
    description: 'How many objects it wants in these namespaces.',
  },
  synced: {
    name: 'Synced',
    type: 'integer',
    jsonPath: '.status.synced',
    description: 'How many of these objects exist and match.',
  },
  conflicts: {
    name: 'Conflicts',
    type: 'integer',
    jsonPath: '.status.conflicts',
    description:
      'How many of these objects have the name of an object that Reeve does not own for this policy or share.',
  },
  failed: {
    name: 'Failed',
    type: 'integer',
    jsonPath: '.status.failed',
    description: 'How many of these objects could not be created or changed.',
    priority: 1,
  },
  ready: {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether all desired objects exist and match.',
  },
  reason: {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why it is ready or not ready.',
  },
  age: {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: 'When it was created.',
  },
} as const satisfies Record<string, PrintColumn>;

export function suspendedColumn(provided: 'contents' | 'copies' | 'objects'): PrintColumn {
  return {
    name: 'Suspended',
    type: 'boolean',
    jsonPath: '.spec.suspend',
    description: `Whether Reeve leaves the ${provided} unchanged.`,
    priority: 1,
  };
}
