// Compiles names: variables of macros, variables of the scope, and names of types.
import { type Identifier, type Node, CompileProblem } from '../syntax/ast.ts';
import * as types from '../types/type.ts';
import { NAMESPACE, objectType, REQUEST } from '../types/type.ts';
import { adapt, TypeValue } from '../values/value.ts';
import type { ExpressionCompilation, Compiled, Variable } from './compilation.ts';

const namedTypes: ReadonlyMap<string, types.Type> = new Map(
  [
    types.BOOL,
    types.BYTES,
    types.DOUBLE,
    types.DURATION,
    types.INT,
    types.listType(types.DYN),
    types.mapType(types.DYN, types.DYN),
    types.NULL,
    types.optionalType(types.DYN),
    types.STRING,
    types.TIMESTAMP,
    types.typeOfKind('net.CIDR'),
    types.typeOfKind('net.IP'),
    types.typeOfKind('type'),
    types.UINT,
  ].map((type) => [type.kind, type]),
);

export function compileIdentifier(compilation: ExpressionCompilation, node: Identifier): Compiled {
  const local = compilation.local(node.name);
  if (local !== undefined) {
    const { slot } = local;
    return { type: local.type, step: (frame) => frame.slots[slot] };
  }
  if (node.name === 'request' && compilation.scope.requestFields !== undefined) {
    throw new CompileProblem('of request only single fields can be read here', node.offset);
  }
  return compileGlobal(compilation, node) ?? compileTypeName(node.name) ?? refuseName(node);
}

/** Compiles a variable of the scope. */
export function compileGlobal(compilation: ExpressionCompilation, node: Identifier): Compiled | undefined {
  const variable = compilation.global(node.name);
  if (variable === undefined) return undefined;
  compilation.reads.add(variable);
  return {
    type: typeOfVariable(compilation, variable),
    step: (frame) => adapt(frame.bindings[variable] ?? null),
  };
}

function typeOfVariable({ scope }: ExpressionCompilation, variable: Variable): types.Type {
  if (variable === 'namespaceObject') return NAMESPACE;
  if (variable === 'request') return REQUEST;
  return variable === 'variables' ? objectType('kubernetes.variables', scope.computed ?? {}) : types.DYN;
}

export function compileTypeName(name: string): Compiled | undefined {
  const type = namedTypes.get(name);
  if (type === undefined) return undefined;
  const value = new TypeValue(name);
  return { type: types.typeType(type), step: () => value };
}

function refuseName(node: Identifier): never {
  throw new CompileProblem(`there is no variable ${node.name.slice(0, 60)} here`, node.offset);
}

/** Returns `a.b.c` for a node of names only. */
export function dottedName(node: Node): string | undefined {
  if (node.kind === 'identifier') return node.name;
  if (node.kind !== 'select' || node.mode !== 'plain') return undefined;
  const operand = dottedName(node.operand);
  return operand === undefined ? undefined : `${operand}.${node.field}`;
}
