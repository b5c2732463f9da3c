// What a parsed JSON value is, told by its type alone: nothing here ever repeats the value itself.

export function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Go reads `null` like a field that is not there: the zero value. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** For messages: the kind of value that stands there. */
export function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return value === '' ? 'empty text' : 'a text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    default:
      return 'an object';
  }
}
