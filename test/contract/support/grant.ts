// Grants a user rights by RBAC, and waits until the server applies them.
import { until } from '../../support/until.ts';
import type { Backend } from './backend.ts';
import { at, binding, role, type Rule } from './objects.ts';

const marker = 'ct-rights-are-known';

/** In one namespace, or everywhere for an empty name. The roles and bindings have the name of the user. */
export async function grant(
  backend: Backend,
  user: string,
  rules: readonly Rule[],
  namespace: string,
): Promise<void> {
  const { api } = backend;
  const isCluster = namespace === '';
  // When the last rule of a role is in force, all its rules are.
  const known: Rule = { apiGroups: ['test.dev'], resources: [marker], verbs: ['get'] };
  const kind = isCluster ? 'ClusterRole' : 'Role';
  const roles = at(isCluster ? 'clusterroles' : 'roles', namespace);
  const bindings = at(isCluster ? 'clusterrolebindings' : 'rolebindings', namespace);
  await api.must(api.create(roles, role(kind, user, [...rules, known])));
  await api.must(
    api.create(bindings, binding(isCluster ? 'ClusterRoleBinding' : 'RoleBinding', user, [kind, user], user)),
  );
  const attributes = { group: 'test.dev', resource: marker, verb: 'get', namespace };
  await until(
    () => mayDo(backend, user, attributes),
    () => `the rights of ${user} are known`,
  );
}

/** Asks the server what another user may do. */
export async function mayDo(backend: Backend, user: string, resourceAttributes: object): Promise<boolean> {
  const answer = await backend.api.must(
    backend.api.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups: ['system:authenticated'], resourceAttributes },
    }),
  );
  return (answer.status as { readonly allowed: boolean }).allowed;
}
