// Finds the overloads of a function that fit the types of its arguments, and the type of the result.
import type { Call } from '../syntax/ast.ts';
import { CompileProblem } from '../syntax/problem.ts';
import { DYN, areSameType, typeText, type Type } from '../types/type.ts';
import type { Unifier } from '../types/unifier.ts';

export interface Signature {
  readonly params: readonly Type[];
  readonly result: Type;
}

export interface Resolution<S extends Signature> {
  readonly type: Type;
  /** More than one when a type is known only at run time. */
  readonly candidates: readonly S[];
}

export function resolveOverloads<S extends Signature>(
  unifier: Unifier,
  overloads: readonly S[],
  given: readonly Type[],
): Resolution<S> | undefined {
  const candidates: S[] = [];
  let type: Type | undefined;
  for (const overload of overloads) {
    if (overload.params.length !== given.length) continue;
    const [result = DYN, ...params] = unifier.instantiate([overload.result, ...overload.params]);
    if (!unifier.assignAll(given, params)) continue;
    candidates.push(overload);
    type = commonType(type, unifier.resolve(result));
  }
  return type === undefined ? undefined : { type, candidates };
}

function commonType(soFar: Type | undefined, next: Type): Type {
  if (soFar === undefined) return next;
  return soFar.kind === 'dyn' || areSameType(soFar, next) ? soFar : DYN;
}

export function noOverload(unifier: Unifier, { name, offset }: Call, given: readonly Type[]): CompileProblem {
  const types = given.map((type) => typeText(unifier.resolve(type))).join(', ');
  return new CompileProblem(`${name.slice(0, 60)} does not exist for (${types})`, offset);
}
