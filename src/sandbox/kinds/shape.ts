// Offers short functions for the schemas of the kinds of Kubernetes.
import { boolean, choice, integer, list, map, text } from '../../schema/build.ts';
import type { Fields, Infer, ObjectSchema, SchemaRule, Schema, TextSchema } from '../../schema/schema.ts';

/** Larger values are refused by the limit of a request, or by a rule of the kind. */
const maxLength = 8 * 1024 * 1024;
const [maxItems, maxProperties] = [maxLength, maxLength];
const description = '';

export const anyText = text({ description, maxLength });
export const someText = text({ description, maxLength, minLength: 1 });
export const flag = boolean(description);
export const oneOf = (...values: readonly string[]) => choice(description, values);
export const whole = (minimum = 0, maximum = 2 ** 31 - 1) => integer({ description, minimum, maximum });
export const several = (items: Schema) => list({ description, items, maxItems });
export const some = (items: Schema) => list({ description, items, maxItems, minItems: 1 });
/** A key identifies the items, in validation and in merges. */
export const severalBy = (key: string, items: Schema) => ({ ...several(items), unique: { key } });
export const textMap = (keys: TextSchema, values: TextSchema) =>
  map({ description, keys, values, maxProperties });

/** A needed field with a default may be left out. */
export function fields(needed: Fields, optional: Fields = {}): ObjectSchema {
  const required = Object.keys(needed).filter((name) => needed[name]?.defaultValue === undefined);
  return { kind: 'object', description, fields: { ...needed, ...optional }, required, open: false };
}

/** Keeps fields that are not listed here. */
export const open = (known: Fields): ObjectSchema => ({ ...fields({}, known), open: true });
export const anything = open({});
export const texts = several(anyText);

/** `offender` returns the path, below the value, of the part that breaks the rule. */
export function ruled<S extends Schema>(
  schema: S,
  accepted: string,
  offender: SchemaRule<Infer<S>>['offender'],
): S {
  const rule: SchemaRule<Infer<S>> = { accepted, offender };
  return { ...schema, rules: [rule] };
}
