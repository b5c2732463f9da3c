// What a schema accepts, in words.
import { nearest } from '../../base/nearest.ts';
import { alternatives, clipped } from '../../base/text.ts';
import type { IntegerSchema, ListSchema, ObjectSchema, Schema, TextSchema } from './schema.ts';

export function describeSchema(schema: Schema): string {
  switch (schema.kind) {
    case 'text':
      return describeText(schema);
    case 'integer':
      return describeInteger(schema);
    case 'boolean':
      return 'true or false';
    case 'list':
      return describeList(schema);
    case 'map':
      return `a map of at most ${schema.maxProperties} keys`;
    case 'object':
      return describeObject(schema);
  }
}

function describeText(schema: TextSchema): string {
  if (schema.values !== undefined) return alternatives(schema.values, schema.values.length);
  if (schema.accepted !== undefined) return schema.accepted;
  return (schema.minLength ?? 0) > 0 ? 'text that is not empty' : 'text';
}

function describeObject({ open, required, fields }: ObjectSchema): string {
  if (open) return 'an object';
  return `${required.length === 0 ? '{} or ' : ''}an object with ${fieldNames(fields)}`;
}

function describeInteger({ minimum, maximum }: IntegerSchema): string {
  return `a whole number from ${minimum} to ${maximum}`;
}

function describeList({ minItems, maxItems }: ListSchema): string {
  return minItems === undefined ? 'a list' : `a list of ${minItems} to ${maxItems}`;
}

function fieldNames(fields: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields);
  return names.length === 0 ? 'no fields' : names.join(', ');
}

/** For an unknown field: what there is, and which of it was probably meant. */
export function describeFields(fields: Readonly<Record<string, unknown>>, given: string): string {
  const shown = clipped(given);
  const near = nearest(shown, Object.keys(fields), Math.max(1, Math.floor(shown.length / 3)));
  return near === undefined ? fieldNames(fields) : `${fieldNames(fields)} (did you mean ${near}?)`;
}
