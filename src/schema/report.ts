// Reports problems of a value: marks the value as invalid and describes what the schema accepts.
import { ownMember } from '../base/json.ts';
import type { Path, Problem } from '../base/problem.ts';
import { describeValue, alternatives, clipped } from '../base/text.ts';
import type { Schema, IntegerSchema, ListSchema, ObjectSchema, SchemaRule, TextSchema } from './schema.ts';
import { nearest } from '../base/nearest.ts';

/** Replaces a value whose problem has been reported. */
export const invalidValue = Symbol('invalid');

export type Report = (problem: Problem) => void;

export function refuse(schema: Schema, input: unknown, path: Path, report: Report): typeof invalidValue {
  report({ path, found: describeValue(input), accepted: describeSchema(schema) });
  return invalidValue;
}

/** Object.fromEntries defines properties instead of assigning them, so a key such as `__proto__` is only a key. */
export function assembleObject(entries: readonly (readonly [string, unknown])[]): unknown {
  return entries.some(([, value]) => value === invalidValue) ? invalidValue : Object.fromEntries(entries);
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((current, step) => {
    if (Array.isArray(current) && typeof step === 'number') return current[step] as unknown;
    return ownMember(current, step);
  }, value);
}

/** The message of the API server for an object that breaks the rule. */
export function ruleMessage({
  must = 'be',
  mustNot,
  accepted,
}: Pick<SchemaRule<unknown>, 'must' | 'mustNot' | 'accepted'>): string {
  return mustNot === undefined ? `must ${must} ${accepted}` : `must not ${mustNot}`;
}

function describeSchema(schema: Schema): string {
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

/** The begin of a template of Reeve, or of a tool that should have rendered it before. */
export const templateMarks = ['${', '{{'] as const;

/** Completes "accepted: " and "must be ", for a text with the begin of a template where none is read. */
export function withoutTemplate(schema: TextSchema): string {
  return `${describeText(schema)}; this field reads no template, so ${templateMarks.join(' and ')} are refused`;
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

/** Lists the known fields for an unknown one, with the field that was probably meant. */
export function describeFields(fields: Readonly<Record<string, unknown>>, given: string): string {
  const shown = clipped(given);
  const near = nearest(shown, Object.keys(fields), Math.max(1, Math.floor(shown.length / 3)));
  return near === undefined ? fieldNames(fields) : `${fieldNames(fields)} (did you mean ${near}?)`;
}
