// Builds schemas, so that a definition reads like the object it describes.
import type {
  BooleanSchema,
  Fields,
  Infer,
  IntegerSchema,
  ListSchema,
  MapSchema,
  ObjectOf,
  ObjectSchema,
  SchemaRule,
  Schema,
  TextSchema,
} from './schema.ts';

type Options<S extends Schema> = Omit<S, 'kind' | 'defaultValue' | 'values'>;

export function text(options: Options<TextSchema>): TextSchema {
  return { kind: 'text', ...options };
}

/** Text that must be one of a few words. */
export function choice<const T extends string>(description: string, values: readonly T[]): TextSchema<T> {
  return { kind: 'text', description, values, maxLength: Math.max(...values.map((value) => value.length)) };
}

export function integer(options: Options<IntegerSchema>): IntegerSchema {
  return { kind: 'integer', ...options };
}

export function boolean(description: string): BooleanSchema {
  return { kind: 'boolean', description };
}

export function list<S extends Schema>(
  options: Omit<ListSchema<Infer<S>>, 'kind' | 'items' | 'defaultValue'> & { readonly items: S },
): ListSchema<Infer<S>> {
  return { kind: 'list', ...options };
}

export function map<S extends Schema>(
  options: Omit<MapSchema<Infer<S>>, 'kind' | 'values' | 'defaultValue'> & { readonly values: S },
): MapSchema<Infer<S>> {
  return { kind: 'map', ...options };
}

interface ObjectOptions<F extends Fields, R extends keyof F, T> {
  readonly description: string;
  readonly fields: F;
  readonly required?: readonly R[];
  readonly rules?: readonly SchemaRule<T>[];
}

/** An object whose fields are all listed; unknown fields are refused. */
export function object<const F extends Fields, R extends keyof F & string = never>(
  options: ObjectOptions<F, R, ObjectOf<F, R>>,
): ObjectSchema<ObjectOf<F, R>> {
  return { kind: 'object', required: [], ...options, open: false };
}

type OpenObject<F extends Fields, R extends keyof F> = ObjectOf<F, R> & { readonly [field: string]: unknown };

/** A spec of our own. Its texts refuse `${` and `{{` unless they say otherwise, because they are no templates. */
export function specification<const F extends Fields, R extends keyof F & string = never>(
  options: ObjectOptions<F, R, ObjectOf<F, R>>,
): ObjectSchema<ObjectOf<F, R>> {
  return withoutTemplates(object(options));
}

function withoutTemplates<S extends Schema>(schema: S): S {
  switch (schema.kind) {
    case 'text':
      return { ...schema, braces: schema.braces ?? 'refused' };
    case 'list':
      return { ...schema, items: withoutTemplates(schema.items) };
    case 'map':
      return { ...schema, keys: withoutTemplates(schema.keys), values: withoutTemplates(schema.values) };
    case 'object': {
      const fields = Object.entries(schema.fields).map(
        ([name, field]) => [name, withoutTemplates(field)] as const,
      );
      return { ...schema, fields: Object.fromEntries(fields) };
    }
    case 'integer':
    case 'boolean':
      return schema;
  }
}

/** An object of a kind that Reeve does not define. The listed fields are checked, and all others are kept. */
export function openObject<const F extends Fields, R extends keyof F & string = never>(
  options: ObjectOptions<F, R, OpenObject<F, R>>,
): ObjectSchema<OpenObject<F, R>> {
  return { kind: 'object', required: [], ...options, open: true };
}

/** Sets the value that a missing field gets. */
export function withDefault<S extends Schema>(
  schema: S,
  value: Infer<S>,
): S & { readonly defaultValue: Infer<S> } {
  return { ...schema, defaultValue: value };
}
