// Defines the entries of the tables of cases.

export interface Topic {
  readonly topic: string;
  /** Expressions that return a bool or end with an error. */
  readonly expressions: readonly string[];
}
