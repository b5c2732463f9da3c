// Escapes what the engine would read as a template: a binding has none, and its params can hold any text.

/** Returns the value with `$${` for each `${` in its texts. Keys are never templates. */
export function literalTexts<T>(value: T): T {
  if (!JSON.stringify(value).includes('${')) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the copy has the form of the value
  return escaped(value) as T;
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', '$$${');
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each)]));
}
