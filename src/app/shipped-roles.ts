// Names the roles of the install with their files, so that a status can say where a missing rule belongs. Names its account.
import type { ShippedRole, RightsPurpose } from '../policy/authors/needed-rights.ts';

const secretsRole = 'ClusterRole reeve-reconciler-secrets';
const namedSecretsFile = 'manifests/named-secrets/22-reconciler-secrets.yaml; with Helm: secretNames';

const shippedRoles: Readonly<Record<RightsPurpose, ShippedRole>> = {
  reconciler: { role: 'ClusterRole reeve-reconciler', file: 'manifests/install/20-reconciler.yaml' },
  bind: {
    role: 'ClusterRole reeve-reconciler-bind',
    file: 'manifests/install/21-reconciler-bind.yaml; with Helm: bindableClusterRoles',
    // The jail has its own lists, so that no change widens both by mistake.
    alsoListIn: 'the ClusterRole to bindableRoles in 41-jail.yaml (with Helm, the value does both)',
  },
  secrets: { role: secretsRole, file: 'manifests/install/22-reconciler-secrets.yaml' },
  'named-secrets': { role: secretsRole, file: namedSecretsFile },
  'named-sources': { role: 'Role reeve-reconciler-sources', file: namedSecretsFile },
  'audit-secrets': {
    role: 'ClusterRole reeve-reconciler-audit-secrets',
    file: 'manifests/audit-secrets/26-reconciler-audit-secrets.yaml; with Helm: auditSecrets',
  },
  resources: {
    role: 'ClusterRole reeve-reconciler-resources',
    file: 'manifests/install/23-reconciler-resources.yaml; with Helm: resourceKinds or intentAdapters',
    alsoListIn: 'the resource to providedResources in 41-jail.yaml (with Helm, the value does both)',
  },
};

/** The service account of the reconciler. */
export const reconcilerAccount = 'reeve-reconciler';

export function whereToAdd(purpose: RightsPurpose): ShippedRole {
  return shippedRoles[purpose];
}
