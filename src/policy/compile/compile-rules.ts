// Creates the rules of a policy for each kind of object.
import type {
  NamespacePolicySpec,
  RbacRules,
  SecretRules,
} from '../../api/namespace-policy/namespace-policy.ts';
import { allOf, compiled, type CompileResult } from '../../base/problem.ts';
import type { Rule } from '../rules/rule.ts';
import { defaultsRule, type DefaultKey } from '../rules/default-keys.ts';
import { deletionProtectionRule } from '../rules/deletion-protection.ts';
import { immutableKeysRule } from '../rules/immutable-keys.ts';
import { compileNameRule } from '../rules/namespace-name.ts';
import { namespaceQuotaRule } from '../rules/namespace-quota.ts';
import { requestersRule } from '../rules/requesters.ts';
import { requiredKeysRule, type Requirement } from '../rules/namespace-required.ts';
import { allowedRoleRefsRule } from '../rules/role-refs.ts';
import { secretDockerConfigRule } from '../rules/secret-docker-config.ts';
import { maxBytesRule } from '../rules/secret-size.ts';
import { secretTlsRule } from '../rules/secret-tls.ts';
import { allowedTypesRule, forbiddenTypesRule } from '../rules/secret-types.ts';
import { forbiddenSubjectsRule } from '../rules/subjects.ts';
import { compileValidation } from '../rules/validations.ts';
import { wildcardRulesRule } from '../rules/wildcard-rules.ts';

export function compileNamespaceRules(
  spec: NamespacePolicySpec,
  requirements: readonly Requirement[],
  defaults: readonly DefaultKey[],
): CompileResult<readonly Rule[]> {
  const rules = spec.namespaces ?? {};
  return allOf<Rule>([
    ...present(rules.name, compileNameRule),
    ...(requirements.length > 0 ? [compiled(requiredKeysRule(requirements))] : []),
    ...(defaults.length > 0 ? [compiled(defaultsRule('namespaces.defaults', defaults))] : []),
    ...present(rules.immutable, (immutable) => compiled(immutableKeysRule(immutable))),
    ...present(rules.requesters, (requesters) => compiled(requestersRule(requesters))),
    ...present(rules.quota, (quota) => compiled(namespaceQuotaRule(quota))),
    ...(rules.deletion?.protect === true ? [compiled(deletionProtectionRule)] : []),
    ...(spec.validations ?? []).map(compileValidation),
  ]);
}

export function compileSecretRules(
  rules: SecretRules = {},
  defaults: readonly DefaultKey[],
): readonly Rule[] {
  return [
    ...present(rules.forbiddenTypes, forbiddenTypesRule),
    ...present(rules.allowedTypes, allowedTypesRule),
    ...present(rules.maxBytes, maxBytesRule),
    ...present(rules.tls, secretTlsRule),
    ...present(rules.dockerConfig, secretDockerConfigRule),
    ...(defaults.length > 0 ? [defaultsRule('secrets.defaults', defaults)] : []),
  ];
}

export function compileRoleRules(rules: RbacRules | undefined): readonly Rule[] {
  return rules?.forbidWildcardRules === true ? [wildcardRulesRule] : [];
}

export function compileRoleBindingRules(rules: RbacRules | undefined): readonly Rule[] {
  return [
    ...present(rules?.allowedRoleRefs, allowedRoleRefsRule),
    ...present(rules?.forbiddenSubjects, forbiddenSubjectsRule),
  ];
}

function present<T, U>(value: T | undefined, make: (value: T) => U): readonly U[] {
  return value === undefined ? [] : [make(value)];
}
