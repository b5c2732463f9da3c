// Names the roles of the install, so that a status can say to which role a missing rule belongs.

/** Purposes of the rules of Reeve's account. The `named` purposes replace `secrets` in an install that names its Secrets. */
export type RightsPurpose =
  'reconciler' | 'bind' | 'secrets' | 'named-secrets' | 'named-sources' | 'resources';

/** The role to which a missing rule must be added, and the file of the install that holds the role. */
export const installRoles: Readonly<Record<RightsPurpose, string>> = {
  reconciler: 'ClusterRole reeve-reconciler (manifests/install/20-reconciler.yaml)',
  bind: 'ClusterRole reeve-reconciler-bind (manifests/install/21-reconciler-bind.yaml)',
  secrets: 'ClusterRole reeve-reconciler-secrets (manifests/install/22-reconciler-secrets.yaml)',
  'named-secrets':
    'ClusterRole reeve-reconciler-secrets (manifests/named-secrets/22-reconciler-secrets.yaml)',
  'named-sources': 'Role reeve-reconciler-sources (manifests/named-secrets/22-reconciler-secrets.yaml)',
  resources: 'ClusterRole reeve-reconciler-resources (manifests/install/23-reconciler-resources.yaml)',
};

/** Where a ClusterRole must be listed as well. The jail has its own list, so that no change widens both by mistake. */
export const jailRoleList = 'bindableRoles in 41-jail.yaml';
