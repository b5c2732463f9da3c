// Writes a schema as the structural OpenAPI v3 of a CustomResourceDefinition.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
import type { IntegerSchema, ListSchema, MapSchema, ObjectSchema, Schema, TextSchema } from './schema.ts';
import { ruleMessage, templateMarks, withoutTemplate } from './validate.ts';

export type OpenApi = Readonly<Record<string, unknown>>;

interface CelRule {
  readonly rule: string;
  readonly message: string;
}

export function toOpenApi(schema: Schema): OpenApi {
  const rules = celRules(schema);
  return {
    description: schema.description,
    ...shapeOf(schema),
    ...(schema.defaultValue === undefined ? {} : { default: schema.defaultValue }),
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  };
}

function shapeOf(schema: Schema): OpenApi {
  switch (schema.kind) {
    case 'text':
      return textShape(schema);
    case 'integer':
      return integerShape(schema);
    case 'boolean':
      return { type: 'boolean' };
    case 'list':
      return listShape(schema);
    case 'map':
      return mapShape(schema);
    case 'object':
      return objectShape(schema);
  }
}

function textShape({ values, minLength, maxLength, pattern, format }: TextSchema): OpenApi {
  if (values !== undefined) return { type: 'string', enum: values };
  return { type: 'string', ...given({ format, minLength, maxLength, pattern }) };
}

function integerShape({ minimum, maximum }: IntegerSchema): OpenApi {
  return { type: 'integer', format: maximum > 2 ** 31 - 1 ? 'int64' : 'int32', minimum, maximum };
}

function listShape({ items, minItems, maxItems, unique }: ListSchema): OpenApi {
  return {
    type: 'array',
    ...given({ minItems, maxItems }),
    ...listType(unique),
    items: toOpenApi(items),
  };
}

function listType(unique: ListSchema['unique']): OpenApi {
  if (unique === undefined) return { 'x-kubernetes-list-type': 'atomic' };
  if (unique === 'set') return { 'x-kubernetes-list-type': 'set' };
  return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [unique.key] };
}

function mapShape({ values, maxProperties }: MapSchema): OpenApi {
  return { type: 'object', maxProperties, additionalProperties: { ...toOpenApi(values), nullable: true } };
}

function objectShape({ fields, required, open }: ObjectSchema): OpenApi {
  return {
    type: 'object',
    ...(open ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toOpenApi(field)])),
  };
}

function given(shape: OpenApi): OpenApi {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
}

function celRules(schema: Schema): readonly CelRule[] {
  const own = (schema.rules ?? []).flatMap((rule) =>
    rule.cel === undefined ? [] : [{ rule: rule.cel, message: ruleMessage(rule) }],
  );
  if (schema.kind === 'text' && refusesBraces(schema)) return [...own, noTemplate(schema)];
  return schema.kind === 'map' ? [noNulls, ...keyRules(schema), ...own] : own;
}

/** Returns true for texts that could hold braces. Most patterns refuse braces. A class such as [^/], or a dot, does not. */
function refusesBraces({ braces, values, pattern }: TextSchema): boolean {
  if (braces !== 'refused' || values !== undefined) return false;
  const parts = pattern?.match(/\[(?:\\.|[^\]\\])+\]|\\S|(?<!\\)\./g) ?? ['.'];
  return parts.some((part) => new RegExp(`^${part}$`, 'u').test('{'));
}

function noTemplate(schema: TextSchema): CelRule {
  const rule = templateMarks.map((mark) => `!self.contains(${celText(mark)})`).join(' && ');
  return { rule, message: `must be ${withoutTemplate(schema)}` };
}

/**
 * The API server silently drops keys whose value is null, so `cost-center:` would remove the requirement. The schema
 * therefore allows null, and this rule refuses it.
 */
const noNulls: CelRule = {
  rule: 'self.all(key, dyn(self[key]) != null)',
  message: 'must have a value for each key',
};

/** OpenAPI in a CRD has no `propertyNames`, so the syntax of the keys is a rule on the map. */
function keyRules({ keys }: MapSchema): readonly CelRule[] {
  const { pattern, maxLength } = keys;
  const terms = [
    `key.size() <= ${maxLength}`,
    ...(pattern === undefined ? [] : [`key.matches(${celText(pattern)})`]),
    ...celRules(keys).map(({ rule }) => rule.replaceAll(/\bself\b/g, 'key')),
  ];
  const message = `must have valid keys: each ${keys.accepted ?? `a text of at most ${maxLength} characters`}`;
  return [{ rule: `self.all(key, ${terms.join(' && ')})`, message }];
}

/** https://github.com/google/cel-spec/blob/master/doc/langdef.md#string-and-bytes-values */
function celText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
