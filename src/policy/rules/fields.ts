// Reads fields of unchecked objects.
import { ownMember, type JsonObject } from '../../base/json.ts';

/** Returns the field, or the empty string when it is missing or not a string. */
export function stringField(object: JsonObject, field: string): string {
  const value = ownMember(object, field);
  return typeof value === 'string' ? value : '';
}

export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
