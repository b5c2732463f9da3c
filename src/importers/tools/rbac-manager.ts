// Imports RBACDefinitions of rbac-manager: RoleBindings, and the ServiceAccounts that it creates for them.
// https://github.com/FairwindsOps/rbac-manager/blob/master/pkg/apis/rbacmanager/v1beta1/rbacdefinition_types.go
import { systemNamespaces } from '../../schema/names.ts';
import { roleBindings, boundSubjects, type Binding } from '../contents.ts';
import type { ImportRun, Importer } from '../import-run.ts';
import { type ToolObject, filled, type Reader } from '../reader.ts';
import { providePolicies } from '../provide.ts';
import { selectorIn, type NamespaceReach } from '../reach.ts';

export const rbacManager: Importer = {
  groups: ['rbacmanager.reactiveops.io'],
  reads: {},
  danger:
    'never delete an RBACDefinition without --cascade=orphan: it owns its RoleBindings and ServiceAccounts, which would be deleted',
  stop: 'kubectl scale deployment rbac-manager -n rbac-manager --replicas=0',
  end: 'uninstall rbac-manager; kubectl get clusterrolebindings,serviceaccounts -A -l rbac-manager=reactiveops lists what it leaves',
  read(run) {
    for (const definition of run.ofKind('RBACDefinition')) readDefinition(run, definition);
  },
};

interface ReachingBinding extends Binding {
  readonly reach: NamespaceReach;
}

function readDefinition(run: ImportRun, definition: ToolObject): void {
  const { name, reader: from } = definition;
  const bindings = from.at('rbacBindings').items();
  const reaching = bindings.flatMap((binding) => readBinding(run, definition, binding));
  for (const group of Map.groupBy(reaching, ({ reach }) => JSON.stringify(reach)).values()) {
    const contents = { roleBindings: roleBindings(group) };
    const reaches = group.slice(0, 1).map(({ reach }) => reach);
    if (contents.roleBindings.length > 0) providePolicies(run, { from, name, reaches, spec: { contents } });
  }
  run.deleteAlone(definition);
}

/** Gives the names that rbac-manager gives: https://github.com/FairwindsOps/rbac-manager/blob/master/pkg/reconciler/parser.go */
function readBinding(run: ImportRun, definition: ToolObject, binding: Reader): readonly ReachingBinding[] {
  const prefix = `${definition.name}-${binding.at('name').text() ?? ''}`;
  for (const account of binding.at('subjects').items()) readAccount(run, definition, account);
  const subjects = boundSubjects(binding.at('subjects'));
  for (const item of binding.at('clusterRoleBindings').items()) {
    const role = item.at('clusterRole').text() ?? '';
    item.lose(`Reeve provides no ClusterRoleBindings; ClusterRoleBinding ${prefix}-${role} stays as it is`);
  }
  const items = binding.at('roleBindings').items();
  return items.flatMap((item) => {
    const reach = reachOf(item);
    const role = item.at('clusterRole').text();
    if (role === undefined)
      item.lose('Reeve binds ClusterRoles only', 'make a ClusterRole with the same rules');
    if (role === undefined || reach === undefined) return [];
    item.at('role').lose('rbac-manager prefers clusterRole and ignores this field');
    return [{ reach, name: `${prefix}-${role}`, role, subjects }];
  });
}

/** The selector wins over the namespace. */
function reachOf(item: Reader): NamespaceReach | undefined {
  const [selector, namespace] = [item.at('namespaceSelector'), item.at('namespace')];
  if (selector.at('matchLabels').isPresent || selector.at('matchExpressions').items().length > 0) {
    namespace.lose('rbac-manager prefers namespaceSelector and ignores this field');
    const namespaceSelector = selectorIn(selector);
    return namespaceSelector && { namespaceSelector };
  }
  const name = namespace.text() ?? '';
  if (name !== '' && !systemNamespaces.includes(name)) return { names: [name] };
  item.lose(name === '' ? 'it names no namespace' : `Reeve leaves namespace ${name} alone`);
  return undefined;
}

/** rbac-manager creates each ServiceAccount among the subjects. */
function readAccount(run: ImportRun, { name: definition, reader }: ToolObject, subject: Reader): void {
  const [secrets, mount] = [subject.at('imagePullSecrets'), subject.at('automountServiceAccountToken')];
  if (subject.at('kind').text() !== 'ServiceAccount') return;
  const [name, namespace] = subject.textsAt('name', 'namespace');
  if (name === undefined || namespace === undefined) return;
  const contents = contentsOfAccount(name, secrets.texts() ?? [], mount.flag());
  const wish = {
    from: reader,
    name: `${definition}-${namespace}-${name}`,
    reaches: [{ names: [namespace] }],
  };
  if (contents !== undefined) providePolicies(run, { ...wish, spec: { contents } });
}

/** Kubernetes creates the account `default`, and Reeve adds fields to it. */
function contentsOfAccount(
  name: string,
  secrets: readonly string[],
  automountServiceAccountToken: boolean | undefined,
): object | undefined {
  if (name === 'default') {
    const fields = filled({ imagePullSecrets: secrets, automountServiceAccountToken });
    return Object.keys(fields).length === 0 ? undefined : { serviceAccounts: [{ name, ...fields }] };
  }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
  const imagePullSecrets = secrets.map((secret) => ({ name: secret }));
  return { resources: [{ ...account, ...filled({ imagePullSecrets, automountServiceAccountToken }) }] };
}
