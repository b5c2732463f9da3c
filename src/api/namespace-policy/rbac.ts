// The field `rbac`: rules on Roles and RoleBindings in matched namespaces, checked before they are stored.
import { boolean, list, object, text, withDefault } from '../../schema/build.ts';

export const rbacRules = object({
  description: 'Rules on Roles and RoleBindings in matched namespaces, checked before they are stored.',
  fields: {
    allowedRoleRefs: list({
      description:
        'The roles that a RoleBinding may refer to, as Kind/name, where the name may be a glob. All others are refused. Example: [ClusterRole/view, ClusterRole/edit, Role/*].',
      items: text({
        description: 'ClusterRole/<name or glob> or Role/<name or glob>.',
        maxLength: 265,
        pattern: '^(ClusterRole|Role)/[^/%\\s]+$',
        accepted: 'ClusterRole/<name> or Role/<name>, where the name may be a glob',
      }),
      minItems: 1,
      maxItems: 100,
      unique: 'set',
    }),
    forbiddenSubjects: list({
      description:
        'The subjects that no RoleBinding may have, as User/<name>, Group/<name> or ServiceAccount/<namespace>/<name>; globs are allowed. Other spellings of the same subject are refused too, such as User/system:serviceaccount:<namespace>:<name>. Example: [Group/system:authenticated, User/system:anonymous].',
      items: text({
        description: 'User/<name>, Group/<name> or ServiceAccount/<namespace>/<name>.',
        maxLength: 520,
        pattern: '^((User|Group)/\\S(.*\\S)?|ServiceAccount/[-a-z0-9*]+/[-a-z0-9.*]+)$',
        accepted: 'User/<name>, Group/<name> or ServiceAccount/<namespace>/<name>',
      }),
      maxItems: 100,
      unique: 'set',
    }),
    forbidWildcardRules: withDefault(
      boolean(
        'Whether to refuse Roles whose rules have * among their apiGroups, resources or verbs, */<subresource> among their resources, or nonResourceURLs that end in *. Default: false.',
      ),
      false,
    ),
  },
});
