// Defines the entries of the tables of cases.

export interface Topic {
  readonly topic: string;
  /** Each returns a bool or ends with an error. */
  readonly expressions: readonly string[];
}
