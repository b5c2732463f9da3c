// Writes a schema as JSON Schema, for editors and for programs that read our output.
// https://json-schema.org/draft-07
import type { IntegerSchema, ListSchema, MapSchema, ObjectSchema, Schema, TextSchema } from './schema.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Rules of the API server in CEL have no counterpart. `reeve check` knows them. */
export function toJsonSchema(schema: Schema): JsonSchema {
  return {
    description: schema.description,
    ...shapeOf(schema),
    ...(schema.defaultValue === undefined ? {} : { default: schema.defaultValue }),
  };
}

function shapeOf(schema: Schema): JsonSchema {
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

function textShape({ values, minLength, maxLength, pattern, format }: TextSchema): JsonSchema {
  if (values !== undefined) return { type: 'string', enum: values };
  return { type: 'string', ...known({ format, minLength, maxLength: limit(maxLength), pattern }) };
}

function integerShape({ minimum, maximum }: IntegerSchema): JsonSchema {
  return { type: 'integer', ...known({ minimum, maximum: limit(maximum) }) };
}

function listShape({ items, minItems, maxItems, unique }: ListSchema): JsonSchema {
  const uniqueItems = unique === 'set' ? true : undefined;
  const limits = known({ minItems, maxItems: limit(maxItems), uniqueItems });
  return { type: 'array', ...limits, items: toJsonSchema(items) };
}

function mapShape({ keys, values, maxProperties }: MapSchema): JsonSchema {
  return {
    type: 'object',
    ...known({ maxProperties: limit(maxProperties) }),
    propertyNames: shapeOf(keys),
    additionalProperties: toJsonSchema(values),
  };
}

function objectShape({ fields, required, open }: ObjectSchema): JsonSchema {
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, toJsonSchema(field)]),
    ),
    ...(open ? {} : { additionalProperties: false }),
  };
}

/** The greatest number stands for "no limit". */
function limit(value: number): number | undefined {
  return value === Number.MAX_SAFE_INTEGER ? undefined : value;
}

function known(shape: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
}
