// Turns the problems of a schema into causes of a 422, with the reasons and fields of the API server.
// https://pkg.go.dev/k8s.io/apimachinery/pkg/util/validation/field#ErrorType
import type { Path, Problem } from '../../base/problem.ts';
import { valueAt } from '../../schema/validate.ts';
import type { Schema } from '../../schema/schema.ts';
import type { StatusCause } from '../api-error.ts';
import { isJsonObject } from '../../base/json.ts';
import { nearest } from '../../base/nearest.ts';
import type { Resource } from '../resource.ts';

const words = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  TypeInvalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
};

export function cause(type: keyof typeof words, field: string, ...why: readonly string[]): StatusCause {
  return { reason: `FieldValue${type}`, message: [words[type], ...why].join(': '), field };
}

export function causeOf(root: Schema, object: unknown, problem: Problem): StatusCause {
  const { path, at } = problem;
  const isKey = at === 'key';
  const why = whyOf(problem);
  const value = isKey ? path.at(-1) : valueAt(object, path);
  const field = fieldOf(root, path, value !== undefined);
  if (value === undefined || value === null) return cause('Required', field, why);
  const schema = isKey ? undefined : schemaAt(root, path);
  if (schema !== undefined && !isOfType(schema, value)) return cause('TypeInvalid', field, why);
  // A value under `data` may be secret.
  const isQuotable = typeof value !== 'object' && !/data$/i.test(String(path[0]));
  const parts = isQuotable ? [JSON.stringify(value), why] : [why];
  const isChoice = schema?.kind === 'text' && schema.values !== undefined;
  return cause(isChoice ? 'NotSupported' : 'Invalid', field, ...parts);
}

function whyOf({ message, accepted }: Problem): string {
  return message ?? accepted;
}

/** Returns `data[tls.key]` or `rules[0].verbs`. Of metadata, it names neither existing keys nor items, as the API server does. */
function fieldOf(root: Schema, path: Path, isThere: boolean): string {
  const steps = path.map((step, index) => {
    const isField = typeof step === 'string' && schemaAt(root, path.slice(0, index))?.kind !== 'map';
    if (isField) return index === 0 ? step : `.${step}`;
    return isThere && path[0] === 'metadata' ? '' : `[${step}]`;
  });
  return steps.join('');
}

function schemaAt(root: Schema, path: Path): Schema | undefined {
  return path.reduce<Schema | undefined>((schema, step) => {
    if (schema?.kind === 'list') return schema.items;
    if (schema?.kind === 'map') return schema.values;
    return schema?.kind === 'object' && Object.hasOwn(schema.fields, step) ? schema.fields[step] : undefined;
  }, root);
}

function isOfType({ kind }: Schema, value: unknown): boolean {
  if (kind === 'list' || Array.isArray(value)) return kind === 'list' && Array.isArray(value);
  if (kind === 'integer') return Number.isInteger(value);
  return typeof value === { text: 'string', boolean: 'boolean', map: 'object', object: 'object' }[kind];
}

// Finds and removes the fields of an object that its kind does not have.

interface UnknownField {
  /** `spec.foo`, `rules[0].bar` */
  readonly path: string;
  /** The known field whose name is most similar. Undefined if no known name is similar. */
  readonly similar: string | undefined;
}

export function unknownFields({ schema }: Resource, object: object): readonly UnknownField[] {
  const found: UnknownField[] = [];
  if (schema !== undefined) withoutUnknownFields(schema, object, (field) => found.push(field));
  return found;
}

export function withoutUnknownFields(
  schema: Schema,
  value: unknown,
  report: (field: UnknownField) => void = () => undefined,
  path = '',
): unknown {
  if (schema.kind === 'list' && Array.isArray(value)) {
    return value.map((item, index) => withoutUnknownFields(schema.items, item, report, `${path}[${index}]`));
  }
  if (schema.kind !== 'object' || !isJsonObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const at = path === '' ? '' : `${path}.`;
    const field = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
    if (field !== undefined) return [[name, withoutUnknownFields(field, member, report, at + name)] as const];
    if (schema.open) return [[name, member] as const];
    const similar = similarName(name, Object.keys(schema.fields));
    report({ path: at + name, similar: similar && at + similar });
    return [];
  });
  return Object.fromEntries(kept);
}

/** Allows one change for every three letters, so that only a typing error counts as similar. */
function similarName(name: string, known: readonly string[]): string | undefined {
  return nearest(name, known, Math.max(1, Math.floor(name.length / 3)));
}
