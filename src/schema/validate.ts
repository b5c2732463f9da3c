// Checks any value against a schema: reports every problem at once, sets defaults, never throws.
import { isJsonObject, ownMember, type JsonObject } from '../base/json.ts';
import type { Path, Problem } from '../base/problem.ts';
import { describeValue } from '../base/text.ts';
import {
  assembleObject,
  invalidValue,
  refuse,
  ruleMessage,
  valueAt,
  type Report,
  describeFields,
} from './report.ts';
import type {
  BooleanSchema,
  Infer,
  IntegerSchema,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Schema,
} from './schema.ts';
import { checkText, copyPlain } from './validate-scalar.ts';

type Validated<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Enough for any honest mistake. A file full of mistakes must not fill the memory. */
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
