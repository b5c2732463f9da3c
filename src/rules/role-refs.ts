// rbac.allowedRoleRefs: the roles that RoleBindings may grant.
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { KubeObject } from '../base/metadata.ts';
import { alternatives, clipped } from '../base/text.ts';
import { compileGlob } from '../cel/regex.ts';
import { list, text } from '../schema/schema.ts';
import { stringField } from './fields.ts';
import { everyOperation, ruleForm } from './rule.ts';

export const allowedRoleRefs = ruleForm({
  id: 'rbac.allowedRoleRefs',
  judges: 'rolebindings',
  field: list({
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
  operations: everyOperation,
  compile(allowed) {
    const globs = allowed.map(compileGlob);
    const accepted = alternatives(allowed) || 'no role at all';
    const compared = (binding: KubeObject) => ({
      path: 'roleRef',
      found: clipped(roleRefOf(binding)),
      accepted,
    });
    return {
      shape: 'state',
      graced: true,
      judge(binding) {
        const found = roleRefOf(binding);
        if (globs.some((glob) => glob.matches(found))) return [];
        return [{ ...compared(binding), identity: found }];
      },
      compared: (binding) => [compared(binding)],
    };
  },
  examples: (allowed) => ({
    usual: { object: roleRefExample(allowed[0] ?? '') },
    writes: [{ title: 'of ClusterRole another-role', object: roleRefExample('ClusterRole/another-role') }],
  }),
});

function roleRefOf(binding: KubeObject): string {
  const roleRef = isJsonObject(binding['roleRef']) ? binding['roleRef'] : {};
  return `${stringField(roleRef, 'kind')}/${stringField(roleRef, 'name')}`;
}

/** Written as in a policy: `ClusterRole/view`. */
function roleRefExample(written: string): JsonObject {
  const [kind = '', name = ''] = written.replaceAll('*', 'example').split('/', 2);
  return { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name } };
}
