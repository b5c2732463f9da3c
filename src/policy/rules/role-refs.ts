// rbac.allowedRoleRefs: the roles that RoleBindings may grant.
import { compileGlob } from '../../cel/patterns.ts';
import { alternatives, clipped } from '../../base/text.ts';
import type { Rule } from './rule.ts';
import { isJsonObject } from '../../base/json.ts';
import { stringField } from './fields.ts';

export function allowedRoleRefsRule(allowed: readonly string[]): Rule {
  const globs = allowed.map(compileGlob);
  return {
    shape: 'state',
    id: 'rbac.allowedRoleRefs',
    graced: true,
    judge(binding) {
      const roleRef = isJsonObject(binding['roleRef']) ? binding['roleRef'] : {};
      const found = `${stringField(roleRef, 'kind')}/${stringField(roleRef, 'name')}`;
      if (globs.some((glob) => glob.matches(found))) return [];
      const accepted = alternatives(allowed) || 'no role at all';
      return [{ path: 'roleRef', found: clipped(found), accepted, identity: found }];
    },
  };
}
