// Parts an object of ours from its status, which is ours to write and never makes it invalid.
import { isJsonObject } from '../base/json.ts';
import type { Infer, Schema } from './schema/schema.ts';
import { validate } from './schema/validate.ts';

interface SplitObject {
  readonly rest: unknown;
  readonly reported: unknown;
}

export function splitStatus(value: unknown): SplitObject {
  if (!isJsonObject(value) || !Object.hasOwn(value, 'status')) return { rest: value, reported: undefined };
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'status'));
  return { rest, reported: value['status'] };
}

/** One that is not as the schema says is as good as none. */
export function readStatus<S extends Schema>(schema: S, reported: unknown): { readonly status?: Infer<S> } {
  if (reported === undefined) return {};
  const outcome = validate(schema, reported);
  return outcome.ok ? { status: outcome.value } : {};
}
