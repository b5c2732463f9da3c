// Decides which types fit each other, and what the type parameters of generic functions stand for.
import {
  areSameType,
  listType,
  mapType,
  optionalType,
  typeType,
  typeParameter,
  DYN,
  type Type,
} from './type.ts';

/** Types that null may stand for: https://github.com/google/cel-go/blob/v0.26.0/checker/types.go */
function isNullable(type: Type): boolean {
  return type.kind === 'null_type' || type.kind === 'optional_type' || type.kind.includes('.');
}

export class Unifier {
  #bindings: ReadonlyMap<string, Type> = new Map();
  #variables = 0;

  freshVariable(): Type {
    this.#variables += 1;
    return typeParameter(`$${this.#variables}`);
  }

  /** Returns true when each type fits where the other is expected. Only then are the new bindings kept. */
  assignAll(given: readonly Type[], expected: readonly Type[]): boolean {
    const attempt = new Attempt(this.#bindings);
    if (given.length !== expected.length) return false;
    if (!given.every((type, index) => attempt.isAssignable(type, expected[index] ?? DYN))) return false;
    this.#bindings = attempt.bindings;
    return true;
  }

  assign(given: Type, expected: Type): boolean {
    return this.assignAll([given], [expected]);
  }

  /** Returns the common type of a literal's elements so far and one more; undefined when they differ. */
  join(soFar: Type | undefined, next: Type): Type | undefined {
    if (soFar === undefined) return next;
    return this.assign(soFar, next) ? moreGeneral(soFar, next) : undefined;
  }

  resolve(type: Type): Type {
    return substitute(type, this.#bindings);
  }

  /** Replaces undecided parameters by dyn: a parameter has no meaning outside of its expression. */
  ground(type: Type): Type {
    const resolved = this.resolve(type);
    const undecided = new Map<string, Type>();
    collectParameters(resolved, (name) => undecided.set(name, DYN));
    return substitute(resolved, undecided);
  }

  /** Returns a copy of a signature with type parameters of its own. */
  instantiate(signature: readonly Type[]): readonly Type[] {
    if (!signature.some(isGeneric)) return signature;
    const fresh = new Map<string, Type>();
    signature.forEach((type) =>
      collectParameters(type, (name) => fresh.set(name, fresh.get(name) ?? this.freshVariable())),
    );
    return signature.map((type) => substitute(type, fresh));
  }
}

/** One trial of unification. It copies the bindings when it binds a parameter. */
class Attempt {
  bindings: ReadonlyMap<string, Type>;

  constructor(bindings: ReadonlyMap<string, Type>) {
    this.bindings = bindings;
  }

  isAssignable(given: Type, expected: Type): boolean {
    if (expected.kind === 'param') {
      const outcome = this.#substitute(given, expected);
      if (outcome !== 'unrelated') return outcome === 'fits';
    }
    if (given.kind === 'param') return this.#substitute(expected, given) === 'fits';
    return this.#areAssignableShapes(given, expected);
  }

  #areAssignableShapes(given: Type, expected: Type): boolean {
    if (given.kind === 'dyn' || expected.kind === 'dyn') return true;
    if (given.kind === 'null_type') return isNullable(expected);
    if (expected.kind === 'null_type') return isNullable(given);
    if (given.kind !== expected.kind) return false;
    if (given.kind === 'type') return true;
    return given.params.every((param, index) => this.isAssignable(param, expected.params[index] ?? DYN));
  }

  /** Binds a type parameter to a type, or compares the type with the bound one. */
  #substitute(type: Type, parameter: Type): 'fits' | 'conflicts' | 'unrelated' {
    if (areSameType(type, parameter)) return 'fits';
    const bound = this.bindings.get(parameter.name ?? '');
    if (bound === undefined) {
      if (this.#occurs(parameter, type)) return 'unrelated';
      this.#bind(parameter, type);
      return 'fits';
    }
    if (areSameType(type, bound)) return 'fits';
    if (!this.isAssignable(type, bound)) return 'conflicts';
    const general = moreGeneral(type, bound);
    if (!this.#occurs(parameter, general)) this.#bind(parameter, general);
    return 'fits';
  }

  #bind(parameter: Type, type: Type): void {
    this.bindings = new Map(this.bindings).set(parameter.name ?? '', type);
  }

  #occurs(parameter: Type, within: Type): boolean {
    if (areSameType(parameter, within)) return true;
    if (within.kind !== 'param') return within.params.some((param) => this.#occurs(parameter, param));
    const bound = this.bindings.get(within.name ?? '');
    return bound !== undefined && this.#occurs(parameter, bound);
  }
}

function moreGeneral(a: Type, b: Type): Type {
  return isAtMostAsSpecific(a, b) ? a : b;
}

function isAtMostAsSpecific(a: Type, b: Type): boolean {
  if (a.kind === 'dyn' || a.kind === 'param') return true;
  if (a.kind !== b.kind) return false;
  return (
    a.kind === 'type' || a.params.every((param, index) => isAtMostAsSpecific(param, b.params[index] ?? DYN))
  );
}

function isGeneric(type: Type): boolean {
  return type.kind === 'param' || type.params.some(isGeneric);
}

function collectParameters(type: Type, visit: (name: string) => void): void {
  if (type.kind === 'param') visit(type.name ?? '');
  type.params.forEach((param) => collectParameters(param, visit));
}

function substitute(type: Type, bindings: ReadonlyMap<string, Type>): Type {
  if (type.kind === 'param') {
    const bound = bindings.get(type.name ?? '');
    return bound === undefined ? type : substitute(bound, bindings);
  }
  if (!isGeneric(type)) return type;
  const [first = DYN, second = DYN] = type.params.map((param) => substitute(param, bindings));
  switch (type.kind) {
    case 'list':
      return listType(first);
    case 'map':
      return mapType(first, second);
    case 'optional_type':
      return optionalType(first);
    case 'type':
      return typeType(first);
    default:
      return type;
  }
}
