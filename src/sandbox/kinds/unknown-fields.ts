// Finds and removes the fields of an object that its kind does not have.
import { isJsonObject } from '../../base/json.ts';
import { nearest } from '../../base/nearest.ts';
import type { Schema } from '../../schema/schema.ts';
import type { Resource } from '../resource.ts';

interface UnknownField {
  /** `spec.foo`, `rules[0].bar` */
  readonly path: string;
  /** The path of the known field beside it whose name is most similar; undefined when none is similar. */
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

/** One change for every three letters, so that only a typing error counts as similar. */
function similarName(name: string, known: readonly string[]): string | undefined {
  return nearest(name, known, Math.max(1, Math.floor(name.length / 3)));
}
