// Checks any value against a schema: reports every problem at once, sets defaults, never throws.
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import type { Path, Problem } from '../base/problem.ts';
import { describeValue, alternatives, clipped } from '../base/text.ts';
import type {
  BooleanSchema,
  Infer,
  IntegerSchema,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Schema,
  TextSchema,
  SchemaRule,
} from './schema.ts';
import { isDateTime } from '../base/time.ts';
import { nearest } from '../base/nearest.ts';

type Validated<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly Problem[] };

/** More problems than an honest mistake causes. A file full of mistakes must not fill the memory. */
const maxProblems = 200;

export function validate<S extends Schema>(schema: S, input: unknown): Validated<Infer<S>> {
  const problems: Problem[] = [];
  const value = check(schema, input, [], (problem) => {
    if (problems.length < maxProblems) problems.push(problem);
  });
  if (value === invalidValue) return { ok: false, problems };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where a value checked at run time gets the type of its schema
  return { ok: true, value: value as Infer<S> };
}

function check(schema: Schema, input: unknown, path: Path, report: Report): unknown {
  const value = checkKind(schema, input, path, report);
  // Rules rely on the types, so they run only on well-formed values.
  if (value === invalidValue || schema.rules === undefined) return value;
  let holds = true;
  for (const rule of schema.rules) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the value has just been checked to be of the schema's type
    const offender = (rule.offender as (value: unknown) => Path | undefined)(value);
    if (offender === undefined) continue;
    holds = false;
    report({
      path: [...path, ...offender],
      found: describeValue(valueAt(value, offender)),
      accepted: rule.accepted,
      ...(rule.mustNot === undefined ? {} : { message: ruleMessage(rule) }),
    });
  }
  return holds ? value : invalidValue;
}

function checkKind(schema: Schema, input: unknown, path: Path, report: Report): unknown {
  switch (schema.kind) {
    case 'text':
      return checkText(schema, input, path, report);
    case 'integer':
      return checkInteger(schema, input, path, report);
    case 'boolean':
      return checkBoolean(schema, input, path, report);
    case 'list':
      return checkList(schema, input, path, report);
    case 'map':
      return checkMap(schema, input, path, report);
    case 'object':
      return checkObject(schema, input, path, report);
  }
}

function checkInteger(schema: IntegerSchema, input: unknown, path: Path, report: Report): unknown {
  const fits = typeof input === 'number' && Number.isInteger(input);
  if (fits && input >= schema.minimum && input <= schema.maximum) return input;
  return refuse(schema, input, path, report);
}

function checkBoolean(schema: BooleanSchema, input: unknown, path: Path, report: Report): unknown {
  return typeof input === 'boolean' ? input : refuse(schema, input, path, report);
}

function checkList(schema: ListSchema, input: unknown, path: Path, report: Report): unknown {
  if (!Array.isArray(input)) return refuse(schema, input, path, report);
  if (input.length > schema.maxItems || input.length < (schema.minItems ?? 0)) {
    const accepted = `a list of ${schema.minItems ?? 0} to ${schema.maxItems}`;
    report({ path, found: describeValue(input), accepted });
    return invalidValue;
  }
  const items = input.map((item, index) => check(schema.items, item, [...path, index], report));
  const repeated = reportRepeated(schema, items, path, report);
  return repeated || items.includes(invalidValue) ? invalidValue : items;
}

function reportRepeated(schema: ListSchema, items: readonly unknown[], path: Path, report: Report): boolean {
  if (schema.unique === undefined) return false;
  const below = schema.unique === 'set' ? [] : [schema.unique.key];
  const seen = new Map<unknown, number>();
  let repeated = false;
  for (const [index, item] of items.entries()) {
    const key = valueAt(item, below);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, index);
    if (first === undefined || key === undefined || item === invalidValue) continue;
    repeated = true;
    report({
      path: [...path, index, ...below],
      found: `${describeValue(key)} a second time`,
      accepted: `unique values; [${first}] has the same one`,
    });
  }
  return repeated;
}

function checkMap(schema: MapSchema, input: unknown, path: Path, report: Report): unknown {
  if (!isJsonObject(input)) return refuse(schema, input, path, report);
  const given = Object.entries(input);
  if (given.length > schema.maxProperties) return refuse(schema, input, path, report);
  const entries = given.map(([key, value]) => {
    const goodKey = check(schema.keys, key, [...path, key], (problem) => report({ ...problem, at: 'key' }));
    const goodValue = check(schema.values, value, [...path, key], report);
    return [key, goodKey === invalidValue ? invalidValue : goodValue] as const;
  });
  return assembleObject(entries);
}

function checkObject(schema: ObjectSchema, input: unknown, path: Path, report: Report): unknown {
  if (!isJsonObject(input)) return refuse(schema, input, path, report);
  const known = Object.keys(schema.fields).map(
    (name) => [name, checkField(schema, name, input, path, report)] as const,
  );
  const unknown = Object.keys(input)
    .filter((name) => !Object.hasOwn(schema.fields, name))
    .map((name) => [name, checkUnknown(schema, name, input[name], path, report)] as const);
  return assembleObject([...known.filter(([, value]) => value !== undefined), ...unknown]);
}

function checkField(
  { fields, required }: ObjectSchema,
  name: string,
  input: JsonObject,
  path: Path,
  report: Report,
): unknown {
  const field = fields[name];
  const given = ownMember(input, name);
  if (field === undefined) return undefined;
  // null means missing, as for the API server, which drops nulls before it sets defaults.
  // https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting-and-nullable
  if (given !== undefined && given !== null) return check(field, given, [...path, name], report);
  if (field.defaultValue !== undefined) return field.defaultValue;
  return required.includes(name) ? refuse(field, undefined, [...path, name], report) : undefined;
}

function checkUnknown(
  schema: ObjectSchema,
  name: string,
  value: unknown,
  path: Path,
  report: Report,
): unknown {
  if (schema.open) return copyPlain(value, [...path, name], report);
  const accepted = describeFields(schema.fields, name);
  report({ path: [...path, name], found: 'an unknown field', accepted, at: 'key' });
  return invalidValue;
}

// Checks texts against their schema, and copies plain JSON that no schema describes.

function checkText(schema: TextSchema, input: unknown, path: Path, report: Report): unknown {
  if (typeof input !== 'string') return refuse(schema, input, path, report);
  if (schema.values !== undefined) {
    return schema.values.includes(input) ? input : refuse(schema, input, path, report);
  }
  // The length is checked first, because it bounds the cost of the pattern.
  const length = countCharacters(input, schema.maxLength);
  if (length > schema.maxLength) {
    report({ path, found: `${length} characters`, accepted: `at most ${schema.maxLength} characters` });
    return invalidValue;
  }
  if (schema.braces === 'refused' && templateMarks.some((mark) => input.includes(mark))) {
    report({ path, found: describeValue(input), accepted: withoutTemplate(schema) });
    return invalidValue;
  }
  if (length < (schema.minLength ?? 0)) return refuse(schema, input, path, report);
  if (!isWellFormed(schema, input)) {
    report({
      path,
      found: describeValue(input),
      accepted: schema.accepted ?? `text that matches ${schema.pattern}`,
    });
    return invalidValue;
  }
  return input;
}

function isWellFormed(schema: TextSchema, input: string): boolean {
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(input)) return false;
  return schema.format === undefined || isDateTime(input);
}

/** Text of at most `limit` UTF-16 units has at most `limit` characters, so only longer text is counted. */
function countCharacters(input: string, limit: number): number {
  if (input.length <= limit) return input.length;
  // Each character of two units has exactly one unit of this range.
  return input.replaceAll(/[\uDC00-\uDFFF]/g, '').length;
}

/** Deeper than any Kubernetes object that people write, and far below the limit of the stack. */
const maxDepth = 64;

function copyPlain(value: unknown, path: Path, report: Report): unknown {
  if (path.length > maxDepth) {
    report({ path, found: 'deeper nesting', accepted: `at most ${maxDepth} levels` });
    return invalidValue;
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => copyPlain(item, [...path, index], report));
    return items.includes(invalidValue) ? invalidValue : items;
  }
  if (isJsonObject(value)) {
    return assembleObject(
      Object.entries(value).map(([key, member]) => [key, copyPlain(member, [...path, key], report)] as const),
    );
  }
  if (isJsonScalar(value)) return value;
  report({ path, found: describeValue(value), accepted: 'a JSON value' });
  return invalidValue;
}

function isJsonScalar(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

// Reports problems of a value: marks the value as invalid and describes what the schema accepts.

/** Replaces a value whose problem has been reported. */
const invalidValue = Symbol('invalid');

type Report = (problem: Problem) => void;

function refuse(schema: Schema, input: unknown, path: Path, report: Report): typeof invalidValue {
  report({ path, found: describeValue(input), accepted: describeSchema(schema) });
  return invalidValue;
}

/** Object.fromEntries defines properties instead of assigning them, so a key such as `__proto__` is only a key. */
function assembleObject(entries: readonly (readonly [string, unknown])[]): unknown {
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

/** The begin of a template of Reeve, or of a tool that should have rendered its template before. */
export const templateMarks = ['${', '{{'] as const;

/** Completes "accepted: " and "must be " for a text that must not begin a template. */
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
