// Types of objects with fixed fields; when an expression runs they are maps.
import { isMap } from '../values/map.ts';
import type { ObjectKind, Type } from './type.ts';

export function objectType(kind: ObjectKind, fields: Readonly<Record<string, Type>>): Type {
  return { kind, params: [], fields, accepts: isMap };
}

/** undefined when values of the type have no such field, or no fields at all. */
export function typeOfObjectField({ fields }: Type, field: string): Type | undefined {
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
}
