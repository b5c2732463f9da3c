// namespaces.required: labels and annotations that a namespace must have, and their allowed values.
import type { RequiredKey, RequiredSpec } from '../../api/namespace-policy/namespace-policy.ts';
import { compiled, mapped, type CompileResult } from '../../base/problem.ts';
import { keyPath, metadataMap, valueOf, type MetadataField } from '../../base/metadata.ts';
import { alternatives, quoted } from '../../base/text.ts';
import type { RuleViolation, Rule } from './rule.ts';
import { compilePattern } from '../../cel/patterns.ts';

export interface Requirement {
  readonly field: MetadataField;
  readonly key: string;
  readonly accepted: string;
  accepts(value: string): boolean;
  /** The units of `accepts`. */
  cost(value: string): number;
}

export function compileRequirements(required: RequiredSpec): readonly CompileResult<Requirement>[] {
  return (['labels', 'annotations'] as const).flatMap((field) =>
    Object.entries(required[field] ?? {}).map(([key, rule]) => compileRequirement(field, key, rule)),
  );
}

export function requiredKeysRule(requirements: readonly Requirement[]): Rule {
  return {
    shape: 'state',
    id: 'namespaces.required',
    graced: true,
    judge: (object, { budget }) =>
      requirements.flatMap((requirement) => {
        const { field, key } = requirement;
        const value = valueOf(metadataMap(object, field), key);
        budget.spend(value === undefined ? 1 : requirement.cost(value));
        return judgeValue(requirement, value);
      }),
  };
}

function judgeValue(requirement: Requirement, value: string | undefined): readonly RuleViolation[] {
  if (value !== undefined && requirement.accepts(value)) return [];
  const path = keyPath(requirement.field, requirement.key);
  return [
    {
      path,
      found: value === undefined ? 'nothing' : quoted(value),
      accepted: requirement.accepted,
      identity: JSON.stringify([path, value]),
    },
  ];
}

function compileRequirement(
  field: MetadataField,
  key: string,
  rule: RequiredKey,
): CompileResult<Requirement> {
  const { pattern, values } = rule;
  if (pattern === undefined) return compiled(requirementOf(field, key, values, undefined));
  const path = ['spec', 'namespaces', 'required', field, key, 'pattern'];
  return mapped(compilePattern(pattern, path), (regex) => requirementOf(field, key, values, regex));
}

interface Pattern {
  readonly source: string;
  search(text: string): boolean;
  cost(text: string): number;
}

function requirementOf(
  field: MetadataField,
  key: string,
  values: readonly string[] | undefined,
  pattern: Pattern | undefined,
): Requirement {
  const accepted = [
    ...(values === undefined ? [] : [alternatives(values.map(quoted))]),
    ...(pattern === undefined ? [] : [`a value that matches ${pattern.source}`]),
  ];
  return {
    field,
    key,
    accepted: accepted.join(', being ') || 'any value that is not empty',
    cost: (value) => 1 + (pattern?.cost(value) ?? 0),
    accepts(value) {
      if (values === undefined && pattern === undefined) return value !== '';
      return (values?.includes(value) ?? true) && (pattern?.search(value) ?? true);
    },
  };
}
