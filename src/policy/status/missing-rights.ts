// Says which rules the roles of the install lack for a policy or share, as they can be pasted there.
import type { InstallRole, OwnRights } from '../authors/own-rights.ts';
import type { RightsRule } from '../authors/needed-rights.ts';

const roles: Readonly<Record<InstallRole, string>> = {
  reconciler: 'ClusterRole reeve-reconciler (manifests/install/20-reconciler.yaml)',
  bind: 'ClusterRole reeve-reconciler-bind (manifests/install/21-reconciler-bind.yaml)',
  secrets: 'ClusterRole reeve-reconciler-secrets (manifests/install/22-reconciler-secrets.yaml)',
  'named-secrets':
    'ClusterRole reeve-reconciler-secrets (manifests/named-secrets/22-reconciler-secrets.yaml)',
  'named-sources': 'Role reeve-reconciler-sources (manifests/named-secrets/22-reconciler-secrets.yaml)',
  resources: 'ClusterRole reeve-reconciler-resources (manifests/install/23-reconciler-resources.yaml)',
};

/** What a condition and an Event hold, less what is said of those that do not fit. */
const longest = 1024 - 100;

export function missingRightsMessage(missing: readonly OwnRights[]): string {
  let text = 'the account of Reeve has no right to all that this asks for';
  let role: InstallRole | undefined;
  for (const [index, each] of missing.entries()) {
    const where = each.role === role ? ' and' : `; add to the rules of ${roles[each.role]}:`;
    const next = `${text}${where} ${ruleLine(each)}`;
    if (next.length > longest) return `${text}; and ${missing.length - index} more${jailOf(missing)}`;
    text = next;
    role = each.role;
  }
  return `${text}${jailOf(missing)}`;
}

/** The jail has a list of its own, so that nobody widens both by mistake. */
function jailOf(missing: readonly OwnRights[]): string {
  return missing.some(({ role }) => role === 'bind')
    ? '; a ClusterRole also has to stand in bindableRoles in 41-jail.yaml'
    : '';
}

/** One item of the rules of a role, in YAML. */
function ruleLine({ verbs, group, resource, name }: RightsRule): string {
  const names = name === undefined ? '' : `, resourceNames: ${JSON.stringify([name])}`;
  return `- {apiGroups: ${JSON.stringify([group])}, resources: ${JSON.stringify([resource])}${names}, verbs: [${verbs.join(', ')}]}`;
}
