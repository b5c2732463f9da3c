// Describes a function of the library: its name, its types and its implementation.
import type { Signature } from '../compile/compilation.ts';
import type { Type } from '../types/type.ts';
import type { Meter } from '../values/meter.ts';
import type { Value } from '../values/value.ts';

/**
 * Takes the arguments (for a method the target first) and the meter. Returns a value or an EvaluationError; never
 * throws.
 */
type Run = (...argsAndMeter: readonly unknown[]) => Value;

export interface FunctionDefinition extends Signature {
  readonly name: string;
  readonly isMethod: boolean;
  readonly run: Run;
  /** The units of a call, besides those for long arguments and results. Undefined: one. */
  readonly cost?: number;
}

/** Sets the cost of functions that take several times as long as others. */
export function costing(
  cost: number,
  definitions: readonly FunctionDefinition[],
): readonly FunctionDefinition[] {
  return definitions.map((definition) => ({ ...definition, cost }));
}

type Shapes<P extends readonly Type[]> = {
  -readonly [K in keyof P]: P[K] extends Type<infer V> ? V : never;
};
type TypedRun<P extends readonly Type[]> = (...argsAndMeter: [...Shapes<P>, meter: Meter]) => Value;

export function defineFunction<const P extends readonly Type[]>(
  name: string,
  params: P,
  result: Type,
  run: TypedRun<P>,
): FunctionDefinition {
  return { name, isMethod: false, params, result, run: untyped(run) };
}

/** The first parameter is the target of the method. */
export function defineMethod<const P extends readonly [Type, ...Type[]]>(
  name: string,
  params: P,
  result: Type,
  run: TypedRun<P>,
): FunctionDefinition {
  return { name, isMethod: true, params, result, run: untyped(run) };
}

/** The caller has checked that the parameters accept the values. */
function untyped<P extends readonly Type[]>(run: TypedRun<P>): Run {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller has checked the arguments
  return run as Run;
}
