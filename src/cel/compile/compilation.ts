// Holds what is known while one expression is compiled: names, types, and the variables read so far.
import type { MetadataField } from '../../base/metadata.ts';
import { type Node, CompileError, type Call } from '../syntax/ast.ts';
import { DYN, type Type, areSameType, typeText } from '../types/type.ts';
import { Unifier } from '../types/unifier.ts';
import { OVER_BUDGET, type Value } from '../values/value.ts';
import { Meter } from '../values/meter.ts';

/** The variables that an expression may read. */
export interface ExpressionScope {
  readonly variables: readonly Variable[];
  /** The only fields of `request` that may be read. Undefined: all of them, and `request` itself. */
  readonly requestFields?: readonly string[];
  /** The fields of `variables`, for a scope that has this variable. */
  readonly computed?: Readonly<Record<string, Type>>;
  /** What `variables.<name>` stands for, in a scope without that variable. */
  readonly definitions?: Definitions;
}

export interface Definitions {
  /** Each may read those before it. */
  readonly variables: readonly Definition[];
  /** The fields of `variables.cluster`. Undefined: not known, so it may have any. */
  readonly cluster: Readonly<Record<string, string>> | undefined;
  /** Counts the nodes of all places that read them, because a variable is compiled again for each reader. */
  readonly compiled: { nodes: number };
}

export interface Definition {
  readonly name: string;
  /** Undefined for an expression that does not compile: readers of it should not fail for that as well. */
  readonly tree: Node | undefined;
}

/** A label or annotation of `namespaceObject` that an expression looks up. */
export interface MetadataKey {
  readonly field: MetadataField;
  readonly key: string;
}

export interface Compiled {
  readonly type: Type;
  readonly step: EvaluationStep;
}

type NodeCompiler = (compilation: ExpressionCompilation, node: Node) => Compiled;

interface LocalVariable {
  readonly name: string;
  readonly type: Type;
  readonly slot: number;
}

/** Each level multiplies the cost by the size of the object. Policies need at most two. */
const MAX_NESTED_LOOPS = 2;
/** For all variables of a policy in all expressions that read them. This takes a fraction of a second. */
const MAX_DEFINED_NODES = 200_000;

export class ExpressionCompilation {
  readonly scope: ExpressionScope;
  readonly unifier = new Unifier();
  readonly reads = new Set<Variable>();
  readonly lookups: MetadataKey[] = [];
  #locals: readonly LocalVariable[] = [];
  #slots = 0;
  #loops = 0;
  #formats = 0;
  /** The number of nodes of the block that is being compiled. */
  #size = 0;
  readonly #types = new Map<Node, Type>();
  /** The variables that the part being compiled may read. */
  #readable: readonly Variable[];
  #definitions: readonly Definition[];
  readonly #defined = new Map<Definition, Compiled>();

  readonly #compileNode: NodeCompiler;

  constructor(scope: ExpressionScope, compileNode: NodeCompiler) {
    this.scope = scope;
    this.#readable = scope.variables;
    this.#definitions = scope.definitions?.variables ?? [];
    this.#compileNode = compileNode;
  }

  /** Compiles a node that is part of another node. */
  compile(node: Node): Compiled {
    this.#size += 1;
    this.#countInDefinition(node);
    const compiled = this.#compileNode(this, node);
    this.#types.set(node, compiled.type);
    return compiled;
  }

  #countInDefinition({ offset }: Node): void {
    const { definitions } = this.scope;
    if (definitions === undefined || this.#definitions === definitions.variables) return;
    definitions.compiled.nodes += 1;
    if (definitions.compiled.nodes > MAX_DEFINED_NODES)
      throw new CompileError('the policy reads too large variables in too many places', offset);
  }

  /**
   * Compiles a part that is evaluated as a whole or not at all. Its step charges one unit for each of its nodes, as the API
   * server does for names, fields and calls: https://pkg.go.dev/github.com/google/cel-go/interpreter#CostTracker
   */
  compileBlock(node: Node): Compiled {
    const outer = this.#size;
    this.#size = 0;
    const { type, step } = this.compile(node);
    const size = this.#size;
    this.#size = outer;
    return { type, step: (frame) => (frame.meter.spend(size) ? step(frame) : OVER_BUDGET) };
  }

  /** Records a lookup, unless its key is computed. */
  looksUp(field: MetadataField, key: string | undefined): void {
    if (key !== undefined) this.lookups.push({ field, key });
  }

  /** Returns the type of a node that has been compiled. */
  typeOf(node: Node): Type {
    return this.unifier.resolve(this.#types.get(node) ?? DYN);
  }

  /** The arguments of format() may be lists of mixed types. */
  get mayMixTypes(): boolean {
    return this.#formats > 0;
  }

  insideFormat<T>(compile: () => T): T {
    this.#formats += 1;
    const result = compile();
    this.#formats -= 1;
    return result;
  }

  local(name: string): LocalVariable | undefined {
    return this.#locals.findLast((local) => local.name === name);
  }

  global(name: string): Variable | undefined {
    return this.#readable.find((variable) => variable === name);
  }

  /** True for `variables` where they stand for the definitions of a policy. */
  isDefinitions(node: Node): boolean {
    const isNamed = node.kind === 'identifier' && node.name === 'variables';
    return isNamed && this.scope.definitions !== undefined && this.local(node.name) === undefined;
  }

  get definitionNames(): readonly string[] {
    return this.#definitions.map(({ name }) => name);
  }

  /**
   * Compiles what a variable stands for, as a part of this expression. So lookups, types and cost are those of the whole.
   * Its step evaluates it once in each evaluation:
   * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#variable-composition
   */
  defined(name: string): Compiled | undefined {
    const index = this.#definitions.findIndex((each) => each.name === name);
    const definition = this.#definitions[index];
    if (definition === undefined) return undefined;
    const known = this.#defined.get(definition);
    if (known !== undefined) return known;
    const compiled = this.#compileDefinition(definition, this.#definitions.slice(0, index));
    this.#defined.set(definition, compiled);
    return compiled;
  }

  /** A variable is the same wherever it is read: it sees no variables of macros, and no item of a list. */
  #compileDefinition({ name, tree }: Definition, before: readonly Definition[]): Compiled {
    if (tree === undefined) return { type: DYN, step: () => null };
    const outer = {
      locals: this.#locals,
      loops: this.#loops,
      formats: this.#formats,
      readable: this.#readable,
      definitions: this.#definitions,
    };
    const readable = this.scope.variables.filter((each) => each !== 'item' && each !== 'namespaceObject');
    [this.#locals, this.#loops, this.#formats, this.#definitions] = [[], 0, 0, before];
    this.#readable = ['namespaceObject', ...readable];
    const { type, step } = this.compileBlock(tree);
    [this.#locals, this.#loops, this.#formats] = [outer.locals, outer.loops, outer.formats];
    [this.#readable, this.#definitions] = [outer.readable, outer.definitions];
    const { slot } = this.newLocal(name, type);
    return { type: this.unifier.ground(type), step: (frame) => (frame.slots[slot] ??= step(frame)) };
  }

  newLocal(name: string, type: Type): LocalVariable {
    this.#slots += 1;
    return { name, type, slot: this.#slots - 1 };
  }

  /** Compiles a part that sees these variables. They hide others of the same name. */
  within<T>(locals: readonly LocalVariable[], compile: () => T): T {
    const outer = this.#locals;
    this.#locals = [...outer, ...locals];
    const result = compile();
    this.#locals = outer;
    return result;
  }

  insideLoop<T>(offset: number, compile: () => T): T {
    if (this.#loops === MAX_NESTED_LOOPS) {
      throw new CompileError(`macros are nested more than ${MAX_NESTED_LOOPS} deep`, offset);
    }
    this.#loops += 1;
    const result = compile();
    this.#loops -= 1;
    return result;
  }

  expectType(node: Node, given: Type, expected: Type, message: string): void {
    if (!this.unifier.assign(given, expected)) throw new CompileError(message, node.offset);
  }
}

// Holds the state of one evaluation, and defines the steps that an expression is compiled to.

export type Variable =
  'data' | 'item' | 'namespaceObject' | 'object' | 'oldObject' | 'params' | 'request' | 'variables';

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

// Finds the overloads of a function that fit the types of its arguments, and the type of the result.

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

export function noOverload(unifier: Unifier, { name, offset }: Call, given: readonly Type[]): CompileError {
  const types = given.map((type) => typeText(unifier.resolve(type))).join(', ');
  return new CompileError(`${name.slice(0, 60)} does not exist for (${types})`, offset);
}
