// The names of the older tools that Reeve imports from.
export const importSources = [
  'capsule',
  'clustersecret',
  'hnc',
  'kyverno',
  'multisecret',
  'nimbus',
  'rbac-manager',
  'reflector',
  'replicator',
  'rolebinding-operator',
] as const;

export type ImportSource = (typeof importSources)[number];
