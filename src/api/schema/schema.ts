// The language in which our kinds are defined: schemas as plain data, and the TypeScript type that each one stands for.
import type { Path } from '../../base/problem.ts';

/** Carries the inferred type; no value ever has it. */
declare const output: unique symbol;

/** Something that types, lengths and patterns cannot say; stated once for the API server and once for ourselves. */
export interface SchemaRule<T> {
  /** What must hold, as a phrase that completes "accepted: ". */
  readonly message: string;
  /** The same for the API server; left out only where a structural schema hides from CEL what the rule looks at. */
  readonly cel?: string;
  /** The part of the value that breaks the rule, as a path below it; undefined when the rule holds. */
  offender(value: T): Path | undefined;
}

interface Common<T> {
  readonly [output]?: T;
  /** What `kubectl explain` prints. */
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
  /** In the syntax that RE2 and JavaScript share. */
  readonly pattern?: string;
  readonly format?: 'date-time';
  /** What the pattern means, for people. */
  readonly accepted?: string;
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
  /** `set`: no item twice; `key`: no two items with the same value of that field. */
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
  /** Fields that are not named here are kept as they are. */
  readonly open: boolean;
}

export type Schema = TextSchema | IntegerSchema | BooleanSchema | ListSchema | MapSchema | ObjectSchema;
export type Fields = Readonly<Record<string, Schema>>;

/** The type of what validation returns: defaults are set, so their fields are always there. */
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
