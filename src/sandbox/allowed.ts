// Refuses, in the words of the API server, what a user may not do.
import type { Authorizer, PathAction, ResourceAction } from './access/authorizer.ts';
import { ApiError, forbiddenError } from './api-error.ts';
import type { User } from './user.ts';

interface Asked extends Pick<ResourceAction, 'subresource' | 'namespace' | 'name'> {
  readonly user: User;
  readonly resource: { readonly group: string; readonly plural: string };
  readonly query: URLSearchParams;
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb */
export function assertMayDo(authorizer: Authorizer, asked: Asked, verb: string): void {
  const { group, plural } = asked.resource;
  const { user, subresource, name = selectedName(asked, verb) } = asked;
  // A Namespace counts as being in itself.
  const namespace = group === '' && plural === 'namespaces' ? asked.name : asked.namespace;
  assertAllowed(authorizer, user, { verb, group, resource: plural, subresource, namespace, name });
}

/** Of a selector that selects by the name alone: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources */
function selectedName({ query }: Asked, verb: string): string | undefined {
  if (!/^(list|watch|deletecollection)$/.test(verb)) return undefined;
  return /^metadata\.name==?([^,=!\\]+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
}

export function assertAllowed(authorizer: Authorizer, user: User, action: ResourceAction | PathAction): void {
  if (authorizer.allows(user, action)) return;
  const who = `User ${JSON.stringify(user.username)} cannot ${action.verb}`;
  if ('path' in action) {
    const message = `forbidden: ${who} path ${JSON.stringify(action.path)}`;
    throw new ApiError({ code: 403, reason: 'Forbidden', message, details: {} });
  }
  const { group, resource, subresource, namespace = '', name = '' } = action;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const why = `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
  throw forbiddenError({ group, plural: resource }, name, why);
}
