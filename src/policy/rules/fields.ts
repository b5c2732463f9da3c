// Reads fields of objects of which nothing is known yet.
import { ownMember, type JsonObject } from '../../base/json.ts';

/** The field if it is there and a string, else nothing. */
export function stringField(object: JsonObject, field: string): string {
  const value = ownMember(object, field);
  return typeof value === 'string' ? value : '';
}

export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
