// Holds the state of one evaluation, and defines the steps that an expression is compiled to.
import { Meter } from '../values/meter.ts';
import type { Value } from '../values/value.ts';

export type Variable = 'namespaceObject' | 'object' | 'oldObject' | 'params' | 'request' | 'variables';

/** Plain JSON as JSON.parse returns it. A missing variable is null. */
export type Bindings = Readonly<Partial<Record<Variable, unknown>>>;

export class Frame {
  readonly bindings: Bindings;
  readonly meter = new Meter();
  /** The current values of the variables of macros. */
  readonly slots: Value[] = [];

  constructor(bindings: Bindings) {
    this.bindings = bindings;
  }
}

/** One compiled node. Closures are several times faster than walking the tree. A step never throws. */
export type EvaluationStep = (frame: Frame) => Value;
