// Finds and drops the fields of an object that its kind does not have.
import { isJsonObject } from '../../base/json.ts';
import type { Schema } from '../../api/schema/schema.ts';
import type { Resource } from '../resource.ts';

/** As paths: `spec.foo`, `rules[0].bar`. */
export function unknownFields({ schema }: Resource, object: object): readonly string[] {
  const found: string[] = [];
  if (schema !== undefined) withoutUnknownFields(schema, object, (path) => found.push(path));
  return found;
}

export function withoutUnknownFields(
  schema: Schema,
  value: unknown,
  drop: (path: string) => void = () => undefined,
  path = '',
): unknown {
  if (schema.kind === 'list' && Array.isArray(value)) {
    return value.map((item, index) => withoutUnknownFields(schema.items, item, drop, `${path}[${index}]`));
  }
  if (schema.kind !== 'object' || !isJsonObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const [field, below] = [schema.fields[name], path === '' ? name : `${path}.${name}`];
    if (Object.hasOwn(schema.fields, name) && field !== undefined)
      return [[name, withoutUnknownFields(field, member, drop, below)] as const];
    if (!schema.open) drop(below);
    return schema.open ? [[name, member] as const] : [];
  });
  return Object.fromEntries(kept);
}
