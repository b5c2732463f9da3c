// Makes one kind of Reeve from its names, its fields and its columns: the schemas of its CustomResourceDefinition, and its parser.
import type { ObjectType } from '../base/object-type.ts';
import { isJsonObject } from '../base/json.ts';
import { compiled, refused, type CompileResult, type Problem } from '../base/problem.ts';
import { apiVersion } from '../schema/names.ts';
import { choice, object, type Infer, type ObjectSchema, type TextSchema } from '../schema/schema.ts';
import { validate } from '../schema/validate.ts';
import { namespacedMetadata, objectMetadata, providerName, type PrintColumn } from './provider-fields.ts';

/** One of our kinds, with everything that derives from it: CustomResourceDefinition, reference, parser, names in commands. */
export interface KindDefinition<
  K extends string = string,
  P extends string = string,
  W extends string = string,
  V = unknown,
> {
  readonly kind: K;
  readonly plural: P;
  readonly shortName: string;
  /** The word for an object of the kind, in commands and sentences. */
  readonly word: W;
  readonly scope: keyof typeof metadata;
  /** The kind of the copies, for a kind that copies an object of its source. Undefined for a kind with contents or without objects. */
  readonly copies?: ObjectType;
  /** True for a kind that earlier versions lack. After an upgrade, Reeve may start before the API server serves the kind. */
  readonly mayBeMissing?: true;
  readonly schemas: {
    readonly description: string;
    readonly name: TextSchema;
    readonly spec: ObjectSchema;
    /** Undefined if Reeve reports nothing about the kind. */
    readonly status?: ObjectSchema;
  };
  readonly columns: readonly PrintColumn[];
  /** Returns the object, or all of its problems at once. */
  parse(value: unknown): CompileResult<V>;
}

/** The type of an object that the kind accepts. */
export type ObjectOfKind<D extends KindDefinition> =
  D extends KindDefinition<string, string, string, infer V> ? V : never;

const metadata = {
  Cluster: objectMetadata(providerName),
  Namespaced: namespacedMetadata(providerName),
} as const;

/** An object without its status: Reeve writes the status, so it never makes an object invalid. */
interface WrittenObject<K, S extends keyof typeof metadata, Spec> {
  readonly apiVersion: string;
  readonly kind: K;
  readonly metadata: Infer<(typeof metadata)[S]>;
  readonly spec: Infer<Spec>;
}

interface KindParts<K, P, W, S, Spec, Status> extends Pick<
  KindDefinition,
  'shortName' | 'columns' | 'copies' | 'mayBeMissing'
> {
  readonly kind: K;
  readonly plural: P;
  readonly word: W;
  readonly scope: S;
  readonly description: string;
  readonly spec: Spec;
  /** Undefined if Reeve reports nothing about the kind. */
  readonly status?: Status;
  /** Finds the problems that a schema cannot express. */
  readonly problemsOf?: (spec: Infer<Spec>) => readonly Problem[];
}

export function defineKind<
  const K extends string,
  const P extends string,
  const W extends string,
  S extends keyof typeof metadata,
  Spec extends ObjectSchema,
  Status extends ObjectSchema = never,
>({ description, spec, status, problemsOf, ...names }: KindParts<K, P, W, S, Spec, Status>) {
  const whole: ObjectSchema = object({
    description,
    fields: {
      apiVersion: choice('The group and version of the kind.', [apiVersion]),
      kind: choice('The kind.', [names.kind]),
      metadata: metadata[names.scope],
      spec,
    },
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
  });
  const parse = (
    value: unknown,
  ): CompileResult<WrittenObject<K, S, Spec> & { readonly status?: Infer<Status> }> => {
    const { rest, reported } = splitStatus(value);
    const outcome = validate(whole, rest);
    if (!outcome.ok) return outcome;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields of the schema above, whose type TypeScript cannot infer from these parameters
    const written = outcome.value as WrittenObject<K, S, Spec>;
    const problems = problemsOf?.(written.spec) ?? [];
    if (problems.length > 0) return refused(problems);
    return compiled({ ...written, ...(status === undefined ? {} : readStatus(status, reported)) });
  };
  const schemas = { description, name: providerName, spec, ...(status === undefined ? {} : { status }) };
  return { ...names, schemas, parse };
}

interface SplitObject {
  readonly rest: unknown;
  readonly reported: unknown;
}

function splitStatus(value: unknown): SplitObject {
  if (!isJsonObject(value) || !Object.hasOwn(value, 'status')) return { rest: value, reported: undefined };
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'status'));
  return { rest, reported: value['status'] };
}

/** Returns nothing for a status that does not match the schema. */
function readStatus<S extends ObjectSchema>(schema: S, reported: unknown): { readonly status?: Infer<S> } {
  if (reported === undefined) return {};
  const outcome = validate(schema, reported);
  return outcome.ok ? { status: outcome.value } : {};
}
