// Defines the language of our kinds: schemas as plain data, the TypeScript type of each schema, and what builds them.
import type { Path } from '../base/problem.ts';

/** Carries the inferred type. No value has this property at run time. */
declare const output: unique symbol;

/** A rule that types, lengths and patterns cannot express, written once in CEL for the API server and once in TypeScript. */
export interface SchemaRule<T> {
  /** The accepted values, as a phrase that completes "accepted: " and "must be " or "must have ". */
  readonly accepted: string;
  /** 'be' by default; 'have' when the rule looks at the parts of the value. */
  readonly must?: 'be' | 'have';
  /** Completes "must not ", for a prohibition. Messages then show it in place of `accepted`. */
  readonly mustNot?: string;
  /**
   * The rule for the API server. Omitted only where a structural schema hides these fields from CEL, or where the CEL of
   * Kubernetes 1.30 cannot express it.
   */
  readonly cel?: string;
  /** Returns the path of the part that breaks the rule, or undefined when the rule holds. */
  offender(value: T): Path | undefined;
}

interface Common<T> {
  readonly [output]?: T;
  /** The text that `kubectl explain` prints. */
  readonly description: string;
  readonly rules?: readonly SchemaRule<T>[];
  readonly defaultValue?: T;
}

export interface TextSchema<T extends string = string> extends Common<T> {
  readonly kind: 'text';
  readonly values?: readonly T[];
  readonly minLength?: number;
  /** In characters (code points), as the API server counts. */
  readonly maxLength: number;
  /** In the common syntax of RE2 and JavaScript. */
  readonly pattern?: string;
  readonly format?: 'date-time';
  /** The meaning of the pattern, for people. */
  readonly accepted?: string;
  /** The meaning of `${` and `{{`: the begin of a template, plain characters, or a mistake in a text that is no template. */
  readonly braces?: 'template' | 'plain' | 'refused';
}

export interface IntegerSchema extends Common<number> {
  readonly kind: 'integer';
  readonly minimum: number;
  readonly maximum: number;
}

export interface BooleanSchema extends Common<boolean> {
  readonly kind: 'boolean';
}

export interface ListSchema<T = unknown> extends Common<readonly T[]> {
  readonly kind: 'list';
  readonly items: Schema;
  readonly minItems?: number;
  readonly maxItems: number;
  /** `set`: no item occurs twice. `key`: no two items have the same value of that field. */
  readonly unique?: 'set' | { readonly key: string };
}

export interface MapSchema<T = unknown> extends Common<Readonly<Record<string, T>>> {
  readonly kind: 'map';
  readonly keys: TextSchema;
  readonly values: Schema;
  readonly maxProperties: number;
}

export interface ObjectSchema<T = object> extends Common<T> {
  readonly kind: 'object';
  readonly fields: Fields;
  readonly required: readonly string[];
  /** True keeps fields that are not listed; false refuses them. */
  readonly open: boolean;
}

export type Schema = TextSchema | IntegerSchema | BooleanSchema | ListSchema | MapSchema | ObjectSchema;
export type Fields = Readonly<Record<string, Schema>>;

/** The type of a validated value: defaults are set, so fields with a default are always present. */
export type Infer<S> = S extends { readonly [output]?: infer T } ? T : never;

interface Defaulted {
  readonly defaultValue: unknown;
}

type PresentKeys<F extends Fields, R extends keyof F> =
  R | { [K in keyof F]: F[K] extends Defaulted ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };

export type ObjectOf<F extends Fields, R extends keyof F> = Flat<
  { readonly [K in PresentKeys<F, R>]: Infer<F[K]> } & {
    readonly [K in Exclude<keyof F, PresentKeys<F, R>>]?: Infer<F[K]>;
  }
>;

// Builds schemas, so that a definition reads like the object it describes.

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
