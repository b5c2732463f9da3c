// Recognizes JSON objects and reads their own members, never what every object inherits.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined where the value is not an object, or has no such member of its own. */
export function ownMember(value: unknown, name: string | number): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
