// namespaces.required: labels and annotations that a namespace must have, and their allowed values.
import { withMergePatch, type JsonObject } from '../base/json.ts';
import { compiled, mapped, partly, type CompileResult } from '../base/problem.ts';
import { metadataMap, valueOf, type MetadataField } from '../base/metadata.ts';
import { alternatives, quoted } from '../base/text.ts';
import { list, object as objectSchema, text, type Infer, type TextSchema } from '../schema/schema.ts';
import { labelValue, metadataMapOf, pattern as patternSchema } from '../schema/common-fields.ts';
import { comparedKey, inField, wordOf } from './fields.ts';
import { everyOperation, ruleForm, type Requirement, type Rule } from './rule.ts';
import { type Regex, compilePattern } from '../cel/regex.ts';

/** Defines what one key requires. The values of labels have a syntax of their own; those of annotations do not. */
function requiredKeyOf(value: TextSchema) {
  return objectSchema({
    description:
      'What the value must be. {} only requires that the key is present and its value is not empty. If both pattern and values are given, both must hold.',
    fields: {
      pattern: patternSchema(
        'A regular expression (RE2) that must match a part of the value; write ^ and $ to match the whole value. Example: "^[a-z]+$".',
      ),
      values: list({
        description: 'The values that are accepted. Example: [dev, prod].',
        items: value,
        minItems: 1,
        maxItems: 100,
        unique: 'set',
      }),
    },
  });
}

const requiredLabel = requiredKeyOf(labelValue('An accepted value.'));
const requiredKey = requiredKeyOf(text({ description: 'An accepted value.', maxLength: 1024 }));

const schema = objectSchema({
  description: 'Labels and annotations that a namespace must have.',
  fields: {
    labels: metadataMapOf(
      'The labels that must be present, and what their values must be. Example: {team: {pattern: "^[a-z]+$"}, env: {values: [dev, prod]}, cost-center: {}}.',
      requiredLabel,
    ),
    annotations: metadataMapOf(
      'The annotations that must be present, and what their values must be. Example: {contact: {}}.',
      requiredKey,
    ),
  },
});

export type RequiredSpec = Infer<typeof schema>;
export type RequiredKey = Infer<typeof requiredKey>;

export const namespaceRequired = ruleForm({
  id: 'namespaces.required',
  judges: 'namespaces',
  field: schema,
  operations: everyOperation,
  precedence: 2,
  compile(required) {
    const parts = keysOf(required).map(([field, key, rule]) => compileRequirement(field, key, rule));
    return partly(parts, requiredRule);
  },
  examples(required) {
    const keys = keysOf(required);
    // No value is invented for a pattern.
    const values = keys.map(([field, key, { values: [value = 'example'] = [] }]) =>
      inField(field, key, value),
    );
    return {
      usual: { object: values.reduce<JsonObject>(withMergePatch, {}) },
      writes: keys.map(([field, key]) => ({
        title: `without ${wordOf(field)} ${key}`,
        object: inField(field, key, null),
      })),
    };
  },
});

function keysOf(required: RequiredSpec): readonly (readonly [MetadataField, string, RequiredKey])[] {
  return (['labels', 'annotations'] as const).flatMap((field) =>
    Object.entries(required[field] ?? {}).map(([key, rule]) => [field, key, rule] as const),
  );
}

function requiredRule(requirements: readonly Requirement[]): Rule {
  return {
    shape: 'state',
    graced: true,
    requirements,
    judge: (object, { budget }) =>
      requirements.flatMap(({ field, key, accepted, accepts, cost }) => {
        const value = valueOf(metadataMap(object, field), key);
        budget.spend(value === undefined ? 1 : cost(value));
        if (value !== undefined && accepts(value)) return [];
        const compared = comparedKey(object, field, key, accepted);
        return [{ ...compared, identity: JSON.stringify([compared.path, value]) }];
      }),
    compared: (object) =>
      requirements.map(({ field, key, accepted }) => comparedKey(object, field, key, accepted)),
  };
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

function requirementOf(
  field: MetadataField,
  key: string,
  values: readonly string[] | undefined,
  pattern: Regex | undefined,
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
