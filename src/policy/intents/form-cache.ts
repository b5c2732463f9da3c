// Remembers what bindings of one form compile to: thousands of tenants write alike.

/** Bounds the memory for forms that no binding has any more. */
const maxForms = 2000;

export class FormCache {
  readonly #known = new Map<string, unknown>();

  /** `compile` must give the same type for all forms of one cache. */
  of<T>(form: string, compile: () => T): T {
    const known = this.#known.get(form);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `compile` fills the cache
    if (known !== undefined) return known as T;
    const value = compile();
    if (this.#known.size >= maxForms) this.#known.clear();
    this.#known.set(form, value);
    return value;
  }
}
