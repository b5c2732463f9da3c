// A value that may be there or not: what `.?`, `[?]` and optional.of() give.
import { Boxed, type Value } from './value.ts';

export class Optional extends Boxed {
  readonly kind = 'optional_type';
  /** undefined when there is none. */
  readonly value: Value;

  constructor(value: Value) {
    super();
    this.value = value;
  }

  /** Optionals are compared by what they hold in equality.ts. */
  equals(other: this): boolean {
    return this === other;
  }
}

export const NONE = new Optional(undefined);
