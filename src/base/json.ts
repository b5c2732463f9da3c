// Recognizes JSON objects, reads their own members, never what every object inherits, and merges them.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined where the value is not an object, or has no such member of its own. */
export function ownMember(value: unknown, name: string | number): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Returns the value with the members of each object in the order of their names, as the API server stores our kinds. */
export function withSortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedMembers);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, withSortedMembers(member)]));
}

/** Returns what is there with a merge patch: https://www.rfc-editor.org/rfc/rfc7396 */
export function withMergePatch(there: unknown, patch: JsonObject): JsonObject {
  const result = new Map(Object.entries(isJsonObject(there) ? there : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, isJsonObject(value) ? withMergePatch(result.get(key), value) : value);
  }
  return Object.fromEntries(result);
}

/** Returns the value at the path as text, as of a name. */
export function textAt(value: unknown, path: readonly (string | number)[]): string {
  return String(path.reduce<unknown>((part, step) => ownMember(part, String(step)), value));
}
