// The line for the shell by which an administrator gives a person the rights that a guard has missed.
import { group, useVerb } from '../../api/names.ts';
import { clipped } from '../../base/text.ts';
import type { Right } from '../terms/verdict.ts';

/** It works again for the next one who needs the same. */
export function grantLine(right: Right, verbs: readonly string[], username: string): string {
  const role = roleName(right, verbs);
  const user = clipped(username, 253);
  const kind = right.namespace === undefined ? 'clusterrole' : 'role';
  const where = right.namespace === undefined ? '' : ` --namespace=${right.namespace}`;
  const binding = shellWord(`${role}-${user.replaceAll(/[^A-Za-z0-9@:._-]/g, '-')}`);
  return (
    `echo ${quotedForShell(roleManifest(right, verbs, role))} | kubectl apply -f - && ` +
    `kubectl create ${kind}binding ${binding}${where} --${kind}=${role} --user=${shellWord(user)}`
  );
}

/** `kubectl create clusterrole` does not take the verb `use` for other kinds than one that is no more. */
function roleManifest(
  { group: apiGroup, resource, name, namespace }: Right,
  verbs: readonly string[],
  role: string,
): string {
  const resourceNames = name === undefined ? {} : { resourceNames: [name] };
  return JSON.stringify({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: { name: role, namespace },
    rules: [{ apiGroups: [apiGroup], resources: [resource], ...resourceNames, verbs }],
  });
}

/** Neither a policy and a share of one name, nor two kinds of one plural, may come to the same role. */
function roleName(right: Right, verbs: readonly string[]): string {
  const { group: apiGroup, resource, name } = right;
  const what = apiGroup === group ? resource : resourceName(right);
  const isUseOfPolicy = verbs.includes(useVerb) && isPolicy(right);
  return ['reeve', ...verbs, ...(isUseOfPolicy ? [] : [what]), ...(name === undefined ? [] : [name])].join(
    '-',
  );
}

function shellWord(text: string): string {
  return /^[A-Za-z0-9@:._/-]+$/.test(text) ? text : quotedForShell(text);
}

/** One word of the shell, whatever spaces and quotes are in it. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** `configmaps`, `networkpolicies.networking.k8s.io` */
export function resourceName({ group: apiGroup, resource }: Right): string {
  return apiGroup === '' ? resource : `${resource}.${apiGroup}`;
}

export function isPolicy(right: Right): boolean {
  return right.group === group && right.resource === 'namespacepolicies';
}
