// Defines the language of our kinds: schemas as plain data, and the TypeScript type of each schema.
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
