// What the tables of cases are made of.

export interface Topic {
  readonly topic: string;
  /** Each gives a bool, or an error, when it is evaluated. */
  readonly expressions: readonly string[];
}
