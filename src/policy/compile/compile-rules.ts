// Creates the rules of a policy from the fields of its spec.
import { compiled, mapped, type Problem } from '../../base/problem.ts';
import type { ReviewedResource, Rule, RuleTraits } from '../../rules/rule.ts';
import { rules, valueIn, type ListedRule, type RuleId } from '../../rules/rules.ts';

export type CompiledRule = Rule & { readonly id: RuleId; readonly traits: RuleTraits };

interface CompiledRules {
  /** The rules that compile, in the order of the list. */
  readonly on: Readonly<Record<ReviewedResource, readonly CompiledRule[]>>;
  /** With `isAboutKeys`, the problems of rules about labels and annotations, else those of the others. */
  problems(isAboutKeys: boolean): readonly Problem[];
}

/** The spec has been checked with the fields of the listed rules. */
export function compileRules(spec: object, listed: readonly ListedRule[] = rules): CompiledRules {
  const results = listed.flatMap((form) => {
    const value = valueIn(spec, form);
    const made = value === undefined ? [] : form.compile(value);
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
