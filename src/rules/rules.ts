// Lists the rules, in the order of the CRD, of the reference and of reasons, and compiles those of a policy.
// A new rule is one file, and one line here.
import { ownMember } from '../base/json.ts';
import type { Definitions } from '../cel/expression.ts';
import type { Fields, Infer, Schema } from '../schema/schema.ts';
import { namespaceDefaults, secretDefaults } from './default-keys.ts';
import { deletionProtection } from './deletion-protection.ts';
import { enforcedKeys } from './enforced-keys.ts';
import { immutableKeys } from './immutable-keys.ts';
import { nameRule } from './namespace-name.ts';
import { namespaceQuota } from './namespace-quota.ts';
import { namespaceRequired } from './namespace-required.ts';
import { requesters } from './requesters.ts';
import { allowedRoleRefs } from './role-refs.ts';
import type { RuleForm, ReviewedResource, Rule, RuleTraits } from './rule.ts';
import { secretDockerConfig } from './secret-docker-config.ts';
import { maxBytes } from './secret-size.ts';
import { secretTls } from './secret-tls.ts';
import { allowedTypes, forbiddenTypes } from './secret-types.ts';
import { forbiddenSubjects } from './subjects.ts';
import { validations } from './validations.ts';
import { forbidWildcardRules } from './wildcard-rules.ts';
import { compiled, mapped, type Problem } from '../base/problem.ts';

export const rules = [
  nameRule,
  namespaceRequired,
  namespaceDefaults,
  enforcedKeys,
  immutableKeys,
  requesters,
  namespaceQuota,
  deletionProtection,
  forbiddenTypes,
  allowedTypes,
  maxBytes,
  secretTls,
  secretDockerConfig,
  secretDefaults,
  allowedRoleRefs,
  forbiddenSubjects,
  forbidWildcardRules,
  validations,
] as const satisfies readonly RuleForm[];

type ListedId = (typeof rules)[number]['id'];
export type ListedRule = RuleForm<ListedId>;

/** `validations/short` is the validation named short. Contents have a rule of their own, which needs them compiled. */
export type RuleId = ListedId | 'contents' | `validations/${string}`;

/** What exceptions can name, besides single validations. */
export const ruleIds = [
  ...rules.map(({ id }) => id).filter((id) => id !== 'validations'),
  'contents',
] as const;

type FieldsOf<B extends string, L extends readonly RuleForm[]> = {
  readonly [F in L[number] as F['id'] extends `${B}.${infer Name}` ? Name : never]: F['field'];
};

/** Returns the fields of one block of the spec. */
export function blockFields<B extends string, L extends readonly RuleForm[]>(
  block: B,
  list: L,
): FieldsOf<B, L>;
export function blockFields(block: string, list: readonly RuleForm[]): Fields {
  const inBlock = list.filter(({ id }) => id.startsWith(`${block}.`));
  return Object.fromEntries(inBlock.map(({ id, field }) => [id.slice(block.length + 1), field]));
}

/** Returns the value of a rule's field in a checked spec. */
export function valueIn(spec: object, { id }: RuleForm): Infer<Schema> | undefined {
  const value = id.split('.').reduce<unknown>(ownMember, spec);
  return isSet(value) ? value : undefined;
}

/** The schema of the spec has the field of the rule, so a value is one of that field. */
function isSet(value: unknown): value is Infer<Schema> {
  return value !== undefined;
}

// Creates the rules of a policy from the fields of its spec.

export type CompiledRule = Rule & { readonly id: RuleId; readonly traits: RuleTraits };

interface CompiledRules {
  /** The rules that compile, in the order of the list. */
  readonly on: Readonly<Record<ReviewedResource, readonly CompiledRule[]>>;
  /** With `isAboutKeys`, returns the problems of rules about labels and annotations. Otherwise, those of all other rules. */
  problems(isAboutKeys: boolean): readonly Problem[];
}

/** The spec has been checked with the fields of the listed rules. */
export function compileRules(
  spec: object,
  definitions: Definitions,
  listed: readonly ListedRule[] = rules,
): CompiledRules {
  const results = listed.flatMap((form) => {
    const value = valueIn(spec, form);
    const made = value === undefined ? [] : form.compile(value, definitions);
    return ('shape' in made ? [compiled(made)] : made).map((each) => ({
      form,
      result: mapped(each, (rule): CompiledRule => ({ ...rule, id: rule.ownId ?? form.id, traits: form })),
    }));
  });
  const on = (resource: ReviewedResource): readonly CompiledRule[] =>
    results.flatMap(({ form, result }) => (result.ok && form.judges === resource ? [result.value] : []));
  return {
    on: {
      namespaces: on('namespaces'),
      secrets: on('secrets'),
      roles: on('roles'),
      rolebindings: on('rolebindings'),
    },
    problems: (isAboutKeys) =>
      results.flatMap(({ form, result }) =>
        result.ok || (form.precedence !== undefined) !== isAboutKeys ? [] : result.problems,
      ),
  };
}
