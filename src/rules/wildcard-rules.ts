// rbac.forbidWildcardRules: Roles must list what they grant, without wildcards.
import { quoted } from '../base/text.ts';
import type { KubeObject } from '../base/metadata.ts';
import { everyOperation, ruleForm } from './rule.ts';
import type { RuleContext, RuleViolation } from './rule.ts';
import { isJsonObject } from '../base/json.ts';
import { boolean, withDefault } from '../schema/schema.ts';
import { stringsOf } from './fields.ts';

const fields = ['apiGroups', 'resources', 'verbs', 'nonResourceURLs'] as const;
/** For the four lists of a rule of a Role. */
const unitsPerRule = 4;
type Field = (typeof fields)[number];

export const forbidWildcardRules = ruleForm({
  id: 'rbac.forbidWildcardRules',
  judges: 'roles',
  field: withDefault(
    boolean(
      'Whether to refuse Roles whose rules have * among their apiGroups, resources or verbs, */<subresource> among their resources, or nonResourceURLs that end in *. Default: false.',
    ),
    false,
  ),
  operations: everyOperation,
  compile: (isForbidden) =>
    isForbidden ? { shape: 'state', graced: true, judge: judgeRole, compared: comparedRole } : [],
  examples: () => ({
    writes: [
      {
        title: 'with a wildcard',
        object: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }] },
      },
    ],
  }),
});

function comparedRole({ rules }: KubeObject) {
  const count = Array.isArray(rules) ? rules.length : 0;
  return [{ path: 'rules', found: `${count} without *`, accepted: 'rules without *' }];
}

function judgeRole(role: KubeObject, { budget }: RuleContext): readonly RuleViolation[] {
  const { rules } = role;
  if (!Array.isArray(rules)) return [];
  budget.spend(rules.length * unitsPerRule);
  return rules.flatMap((rule: unknown, index) =>
    isJsonObject(rule) ? fields.flatMap((field) => judgeField(`rules[${index}].${field}`, field, rule)) : [],
  );
}

function judgeField(
  path: string,
  field: Field,
  rule: Readonly<Record<string, unknown>>,
): readonly RuleViolation[] {
  const wildcard = stringsOf(rule[field]).find((value) => isWildcard(field, value));
  if (wildcard === undefined) return [];
  // The identity holds the whole rule: an old wildcard must not excuse a new one elsewhere in the rule.
  const identity = JSON.stringify([field, ...fields.map((each) => rule[each]), rule['resourceNames']]);
  return [{ path, found: quoted(wildcard), accepted: `${field} named one by one`, identity }];
}

/**
 * `*` is everything, `*` before a slash is a subresource of everything, and nonResourceURLs may end in `*`.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources
 */
function isWildcard(field: Field, value: string): boolean {
  if (value === '*') return true;
  if (field === 'resources') return value.startsWith('*/');
  return field === 'nonResourceURLs' && value.endsWith('*');
}
